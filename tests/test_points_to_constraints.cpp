// Points-to constraints: their files, what is wrong in them, and the oracle.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/points_to/constraints.hpp>
#include <hornbill/points_to/plan.hpp>
#include <hornbill/points_to/solve.hpp>
#include <reference/points_to.hpp>

#include "../src/io/hdf5.hpp"
#include "support/clauses.hpp"
#include "support/random_constraints.hpp"

using namespace hornbill;
using points_to::Constraint, points_to::ConstraintKind, points_to::ConstraintSystem;

namespace {

using Sets = std::vector<std::vector<Index>>;

/// Null, an object of three fields, a function of two, and an object of one; then pointers.
ConstraintSystem objects_and_pointers(Index num_pointers) {
  ConstraintSystem system;
  system.object_sizes = {0, 3, 2, 1, 2, 1, 1};
  system.is_function = {0, 0, 0, 0, 1, 0, 0};
  system.num_variables = 7 + num_pointers;
  return system;
}
constexpr std::string_view objects = "9\n6\n5\n0,0,0\n1,3,0\n2,2,0\n3,1,0\n4,2,1\n5,1,0\n6,1,0\n";

bool is_same(ConstraintSystem const& a, ConstraintSystem const& b) {
  return a.num_variables == b.num_variables && a.object_sizes == b.object_sizes && a.is_function == b.is_function &&
         a.object_periods == b.object_periods && a.outside == b.outside && a.bytes_to_end == b.bytes_to_end &&
         a.constraints == b.constraints && a.variable_names == b.variable_names;
}

/// Places by constraint: two systems may number them otherwise.
std::vector<std::string> places_of(ConstraintSystem const& system) {
  std::vector<std::string> places(system.constraints.size(), "none");
  for (std::size_t c = 0; c < system.place_of_constraint.size(); ++c)
    if (Index const place = system.place_of_constraint[c]; place >= 0) places[c] = "at " + system.places[place];
  return places;
}

std::vector<std::string> calls_of(ConstraintSystem const& system) {
  std::vector<std::string> calls;
  for (auto const& [pointer, place] : system.calls)
    calls.push_back(fmt::format("{} {}", pointer, place < 0 ? "nowhere" : system.places[place]));
  return calls;
}

io::ConstraintFiles const names_of_files{"c", "o", "n", "p", "k"};

struct Texts {
  std::string constraints, objects{::objects}, names{}, places{}, calls{};
};

ConstraintSystem read(Texts const& texts) {
  auto const if_there = [](std::string const& text) { return text.empty() ? std::nullopt : std::optional(text); };
  return io::parse_constraints(
      {texts.constraints, texts.objects, if_there(texts.names), if_there(texts.places), if_there(texts.calls)},
      names_of_files);
}

void refuse(Texts const& texts, std::string const& message) {
  try {
    read(texts);
    FAIL_CHECK("nothing was thrown; expected: " << message);
  } catch (Error const& e) {
    CHECK_MESSAGE(std::string(e.what()).find(message) != std::string::npos, "'", e.what(), "' does not contain '",
                  message, "'");
  }
}

/// As a program that knows nothing of solutions would change a file.
void fill_with_zeros(std::string const& path, std::string const& dataset) {
  io::hdf5::Handle const file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  io::hdf5::Handle const data(H5Dopen2(file.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  io::hdf5::Handle const space(H5Dget_space(data.get()), H5Sclose);
  std::vector<Index> const zeros(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
  REQUIRE(H5Dwrite(data.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data()) >= 0);
}

}  // namespace

TEST_CASE("constraints: the oracle, by hand") {
  auto system = objects_and_pointers(6);
  Index const p = 7, q = 8, r = 9, s = 10, t = 11, u = 12;
  SUBCASE("a store and a load through one pointer") {
    system.constraints = {{ConstraintKind::address_of, 6, p},
                          {ConstraintKind::address_of, 1, q},
                          {ConstraintKind::store, q, p},
                          {ConstraintKind::load, p, r},
                          {ConstraintKind::copy, r, s}};
    auto const sets = reference::points_to_sets(system);
    CHECK(sets[6] == std::vector<Index>{1});
    CHECK(sets[r] == std::vector<Index>{1});
    CHECK(sets[s] == std::vector<Index>{1});
    CHECK(sets[t].empty());
  }
  SUBCASE("offsets end with their object") {
    system.constraints = {{ConstraintKind::address_of, 2, p}, {ConstraintKind::address_of, 0, p},
                          {ConstraintKind::offset, p, q, 1},  {ConstraintKind::offset, p, r, 2},
                          {ConstraintKind::offset, p, s, 0},  {ConstraintKind::any_offset, p, t}};
    auto const sets = reference::points_to_sets(system);
    CHECK(sets[q] == std::vector<Index>{3});
    CHECK(sets[r].empty());
    CHECK(sets[s] == std::vector<Index>{2});  // null has no field
    CHECK(sets[t] == std::vector<Index>{1, 2, 3});
  }
  SUBCASE("a cycle with an offset") {  // p = p->next + 1
    system.constraints = {{ConstraintKind::address_of, 1, p}, {ConstraintKind::offset, p, p, 1}};
    CHECK(reference::points_to_sets(system)[p] == std::vector<Index>{1, 2, 3});
  }
  SUBCASE("a call through a pointer") {  // u = (*p)(q), where *p returns its argument
    system.object_sizes[4] = 3, system.object_sizes[5] = 2;
    system.constraints = {{ConstraintKind::address_of, 4, p}, {ConstraintKind::address_of, 1, q},
                          {ConstraintKind::offset, p, r, 2},  {ConstraintKind::store, q, r},
                          {ConstraintKind::copy, 6, 5},       {ConstraintKind::offset, p, s, 1},
                          {ConstraintKind::load, s, u}};
    CHECK(reference::points_to_sets(system)[u] == std::vector<Index>{1});
  }
}

TEST_CASE("constraints: text with a header of one line, and names and places") {
  auto const system =
      read({"# comment\n1,0,1,0,2,1\n0,4,7,0,0\r\n 1 , 7 , 8 , 2 , 0 \n2,7,8,4,2\n3,7,7,4,0\n\n4,7,7,5,0\n",
            std::string(objects), "7\tp\n8\t\"a\\tb\"\n# 6\tx\n", "1\tmain.c:3:1\n4\tmain.c:3:1\n"});
  CHECK(system.num_variables == 9);
  CHECK(system.object_sizes == std::vector<Index>{0, 3, 2, 1, 2, 1, 1});
  CHECK(system.is_function == std::vector<std::uint8_t>{0, 0, 0, 0, 1, 0, 0});
  CHECK(system.constraints == std::vector<Constraint>{{ConstraintKind::address_of, 4, 7},
                                                      {ConstraintKind::load, 7, 8},
                                                      {ConstraintKind::offset, 7, 8, 2},
                                                      {ConstraintKind::offset, 7, 7, 0},
                                                      {ConstraintKind::any_offset, 7, 7}});
  CHECK(system.variable_names == std::vector<std::string>{"", "", "", "", "", "", "", "p", "a\tb"});
  CHECK(system.places == std::vector<std::string>{"main.c:3:1"});
  CHECK(system.place_of_constraint == std::vector<Index>{-1, 0, -1, -1, 0});
  // a header of five counts the last kind with offsets
  CHECK(read({"1,0,0,0,1\n0,4,7,0,0\n1,7,7,5,0\n"}).num_constraints() == 2);
}

TEST_CASE("constraints: text with a header of two lines") {
  auto const system = read({"9\n2\n0,4,7,0,0\n1,7,8,1,0\n"});
  CHECK(system.num_constraints() == 2);
  CHECK(system.variable_names.empty());
  CHECK(system.place_of_constraint.empty());
}

TEST_CASE("constraints: what is wrong in a text is named by its line") {
  refuse({""}, "c: has no header: it is truncated");
  refuse({"9\n"}, "c: has no header");
  refuse({"9\n2\n0,4,7,0,0\n"}, "c: has 1 constraints; its header says 2");
  refuse({"9\n0\n0,4,7,0,0\n"}, "c: has 1 constraints; its header says 0");
  refuse({"8\n0\n"}, "line 1: the header says 8 variables; there are 9");
  refuse({"9\n1,0,0,0,0\n"}, "line 2: the second line of the header has 5 numbers; 1 is needed");
  refuse({"1,0,0,0,0\n1\n0,4,7,0,0\n"}, "line 2: has 1 numbers; 5 are needed: id,src,dst,type,offset");
  refuse({"1,0,0,0\n"}, "line 1: the header has 4 numbers; 5 are needed");
  refuse({"9\n-1\n"}, "line 2: the header has the count -1");
  refuse({"0,4,7,0,0\n"}, "c: has 0 constraints of kind 1 (copy); its header says 4");  // none
  refuse({"1,0,0,0,1\n0,4,7,0,0\n"}, "c: has 0 constraints of kind 4 (offset); its header says 1");
  refuse({"1,0,0,0,0,0\n0,4,7,0,0\n1,7,7,5,0\n"}, "c: has 1 constraints of kind 5 (any-offset); its header says 0");
  refuse({"9\n1\n0,4,7,7,0\n"}, "line 3: kind 7 is unknown");
  refuse({"9\n1\n0,4,7,-1,0\n"}, "line 3: kind -1 is unknown");
  refuse({"9\n1\n1,4,7,0,0\n"}, "line 3: constraint 1 where 0 is next");
  refuse({"9\n1\n0,7,8,0,0\n"},
         "line 3: the address of variable 7 is taken, which is not an object: objects are 0 to 6");
  refuse({"9\n1\n0,9,8,1,0\n"}, "line 3: source 9 is unknown: variables are 0 to 8");
  refuse({"9\n1\n0,8,-1,1,0\n"}, "line 3: destination -1 is unknown: variables are 0 to 8");
  refuse({"9\n1\n0,8,7,4,-1\n"}, "line 3: offset -1 is negative");
  refuse({"9\n1\n0,8,7,4,536870912\n"}, "line 3: offset 536870912 is beyond 536870911");
  refuse({"9\n1\n0,8,7,2,1\n"}, "line 3: has offset 1, but is of kind 2 (load)");
  refuse({"9\n1\n0,8,7,1\n"}, "line 3: has 4 numbers; 5 are needed");
  refuse({"9\n1\n0,8,7,1,0,0,0,0\n"}, "line 3: has more than 7 numbers");
  refuse({"9\n1\n0,8,7,1,\n"}, "line 3: '' is not a whole number");
  refuse({"9\n1\n0,8,4294967296,1,0\n"}, "line 3: '4294967296' is too large");
  refuse({"9\n1\n0,8,7.5,1,0\n"}, "line 3: '7.5' is not a whole number");
}

TEST_CASE("constraints: what is wrong with objects is named by its line") {
  auto const with = [](std::string const& objects) { return Texts{"1,0,0,0,0\n0,0,0,0,0\n", objects, {}, {}}; };
  refuse(with(""), "o: has 0 of the three numbers of its header");
  refuse(with("4\n1\n"), "o: has 2 of the three numbers");
  refuse(with("4\n1\n0\n0,1,0\n"), "o: describes 1 objects of 2");
  refuse(with("4\n0\n0\n0,1,0\n1,1,0\n"), "line 5: describes object 1, but the header says that 0 is the last");
  refuse(with("4\n1\n0\n1,1,0\n"), "line 4: describes object 1 where 0 is next");
  refuse(with("4\n4\n0\n"), "line 2: the last object is 4; -1 to 3 are possible");
  refuse(with("-1\n"), "line 1: the number of variables is -1");
  refuse(with("2147483647\n"), "line 1: the number of variables is 2147483647");
  refuse(with("99999999999\n"), "line 1: '99999999999' is too large");
  refuse(with("4\n1\n0\n0,1,0\n1,2,0\n"), "o:objects: object 1 has size 2 and runs past the last object, 1");
  refuse(with("4\n2\n0\n0,2,0\n1,2,0\n2,1,0\n"),
         "object 1 has size 2, but is a field of object 0, of size 2: 1 is needed");
  refuse(with("4\n0\n0\n0,-1,0\n"), "object 0 has size -1");
  refuse(with("4\n0\n0\n0,1,2\n"), "line 4: isFunction is 2");
  refuse(with("4\n1\n1\n0,2,0\n1,1,1\n"), "object 1 is a function, but not the first field");
  refuse(with("4\n2\n2\n0,2,1\n1,1,0\n2,1,0\n"), "functions end with 2, but the last one ends with 1");
  refuse(with("4\n1\n1\n0,1,0\n1,1,0\n"), "functions end with 1, but it describes none");
  refuse(with("4\n1\n0\n0,1,0\n1,1,1\n"), "line 5: is a function, but the header says that functions end with 0");
}

TEST_CASE("constraints: periods of objects, and the outside") {
  auto const with = [](std::string const& objects) { return Texts{"4\n0\n", objects, {}, {}}; };
  auto const system = read(with("4\n2\n-1\n0,1,0,1,1\n1,2,0,2,0\n2,1,0,2,0\n"));
  CHECK(system.object_periods == std::vector<Index>{1, 2, 2});
  CHECK(system.outside == 0);
  CHECK(read(with("4\n1\n-1\n0,1,0,0\n1,1,0,0\n")).object_periods.empty());
  refuse(with("4\n1\n-1\n0,1,0,1\n1,1,0\n"), "line 5: has 3 numbers; 4 are needed: id,size,isFunction,period");
  refuse(with("4\n1\n-1\n0,1,0,1,1\n1,1,0,0\n"), "5 are needed: id,size,isFunction,period,isOutside");
  refuse(with("4\n1\n-1\n0,1,0,0,1\n1,1,0,0,1\n"), "line 5: is outside, as object 0 is; there is one such object");
  refuse(with("4\n0\n-1\n0,1,0,0,2\n"), "line 4: isOutside is 2; 0 or 1 is needed");
  refuse(with("4\n0\n-1\n0,1,0,2\n"), "o:objects: object 0 has period 2; 0 to 1 are possible");
  refuse(with("4\n0\n-1\n0,1,0,-1\n"), "object 0 has period -1");
  refuse(with("4\n1\n-1\n0,2,0,1\n1,1,0,2\n"), "object 1 has period 2, but is a field of object 0, whose period is 1");
}

TEST_CASE("constraints: fields of several bytes") {
  auto const with = [](std::string const& objects) { return Texts{"4\n0\n", objects, {}, {}}; };
  CHECK(read(with("4\n1\n-1\n0,2,0,0,0,12\n1,1,0,0,0,8\n")).bytes_to_end == std::vector<Index>{12, 8});
  CHECK(read(with("4\n1\n-1\n0,2,0,0,0,2\n1,1,0,0,0,1\n")).bytes_to_end.empty());
  refuse(with("4\n1\n-1\n0,2,0,0,0,8\n1,1,0,0,0,8\n"),
         "o:objects: object 0 has 8 bytes to its end; 9 to 536870911 are possible");
  refuse(with("4\n0\n-1\n0,1,0,0,0,0\n"), "object 0 has 0 bytes to its end; 1 to 536870911 are possible");
  CHECK(read(with("4\n1\n1\n0,2,1,0,0,2\n1,1,0,0,0,1\n")).bytes_to_end == std::vector<Index>{2, 1});
  refuse(with("4\n1\n-1\n0,2,0,0,0,5\n1,1,0,0,0,2000000000\n"),
         "object 1 has 2000000000 bytes to its end; 1 to 536870911");
  refuse(with("4\n1\n1\n0,2,1,0,0,8\n1,1,0,0,0,1\n"), "object 0 is a field of a function and has 8 bytes to its end");
  refuse(with("4\n0\n-1\n0,0,0,0,0,1\n"), "object 0 has 1 bytes to its end; 0 to 0 are possible");
  refuse(with("4\n1\n-1\n0,2,0,4,0,12\n1,1,0,4,0,8\n"),
         "object 0 has period 4, but none of its fields begins so far before its end");
}

TEST_CASE("constraints: offsets into fields of several bytes lead to both ends") {
  // fields at bytes 0, 4 and 12 of 16, of which the last 12 repeat; p -> the first one
  ConstraintSystem system;
  system.object_sizes = {3, 2, 1};
  system.bytes_to_end = {16, 12, 4};
  system.object_periods = {12, 12, 12};
  system.is_function = {0, 0, 0};
  system.num_variables = 10;
  Index const p = 3;
  system.constraints = {{ConstraintKind::address_of, 0, p}};
  for (Index v = 4; Index const k : {4, 6, 13, 17, 24})
    system.constraints.push_back({ConstraintKind::offset, p, v++, k});
  system.constraints.push_back({ConstraintKind::any_offset, p, 9, 12});
  auto const sets = reference::points_to_sets(system);
  CHECK(sets == std::vector<std::vector<Index>>{{}, {}, {}, {0}, {1}, {1, 2}, {1, 2}, {1, 2}, {2}, {0, 2}});
}

TEST_CASE("constraints: offsets go round in objects with periods") {
  // an object of three fields whose last two repeat; p -> its first field, and what offsets lead to
  ConstraintSystem system;
  system.object_sizes = {3, 2, 1};
  system.object_periods = {2, 2, 2};
  system.is_function = {0, 0, 0};
  system.num_variables = 9;
  Index const p = 3;
  system.constraints = {{ConstraintKind::address_of, 0, p}};
  for (Index k = 1; k <= 4; ++k) system.constraints.push_back({ConstraintKind::offset, p, p + k, k});
  system.constraints.push_back({ConstraintKind::any_offset, p, p + 5, 4});
  auto const sets = reference::points_to_sets(system);
  CHECK(sets == std::vector<std::vector<Index>>{{}, {}, {}, {0}, {1}, {2}, {1}, {2}, {0, 2}});
}

TEST_CASE("constraints: what is wrong with names and places is named by its line") {
  std::string const constraints = "9\n1\n0,4,7,0,0\n";
  refuse({constraints, std::string(objects), "9\tx\n", ""}, "n:line 1: variable 9 is unknown: there are 0 to 8");
  refuse({constraints, std::string(objects), "8\tx\n8\ty\n", ""}, "n:line 2: variable 8 is there a second time");
  refuse({constraints, std::string(objects), "8\n", ""}, "n:line 1: nothing follows variable 8");
  refuse({constraints, std::string(objects), "8\t\"x\n", ""}, "n:line 1:");
  refuse({constraints, std::string(objects), "8\t\"\"\n", ""}, "n:line 1: the name of variable 8 is empty");
  refuse({constraints, std::string(objects), "x\ty\n", ""}, "n:line 1: 'x' is not the number of a variable");
  refuse({constraints, std::string(objects), "", "1\tx\n"}, "p:line 1: constraint 1 is unknown: there are 0 to 0");
}

TEST_CASE("constraints: calls through pointers") {
  auto const with = [](std::string const& calls) { return Texts{"9\n0\n", std::string(objects), {}, {}, calls}; };
  auto const system = read(with("8\n7\tmain.c:1\n# 6\n"));
  CHECK(system.calls == std::vector<points_to::IndirectCall>{{8, -1}, {7, 0}});
  CHECK(system.places == std::vector<std::string>{"main.c:1"});
  refuse(with("9\n"), "k:line 1: variable 9 is unknown: there are 0 to 8");
  refuse(with("x\tmain.c:1\n"), "k:line 1: 'x' is not the number of a variable");
}

TEST_CASE("constraints: more of them, perhaps with more variables") {
  test::ClauseFolder const folder;
  auto system = read({"9\n1\n0,4,7,0,0\n", std::string(objects), "7\tp\n", "0\tmain.c:1\n"});
  io::read_more_constraints(folder.write("10\n1\n0,7,9,1,0\n"), system);
  io::read_more_constraints(folder.write("0,0,1,0,0\n0,9,8,2,0\n"), system);
  points_to::validate(system, "all");
  CHECK(system.num_variables == 10);
  CHECK(system.constraints == std::vector<Constraint>{{ConstraintKind::address_of, 4, 7},
                                                      {ConstraintKind::copy, 7, 9},
                                                      {ConstraintKind::load, 9, 8}});
  CHECK(system.place_of_constraint == std::vector<Index>{0, -1, -1});
  CHECK_THROWS_WITH_AS(io::read_more_constraints(folder.write("9\n0\n"), system),
                       doctest::Contains("the header says 9 variables; there are 10"), InputError);
  CHECK_THROWS_WITH_AS(io::read_more_constraints(folder.write("10\n2\n0,4,7,0,0\n"), system),
                       doctest::Contains("has 1 constraints; its header says 2"), InputError);
  CHECK_THROWS_WITH_AS(io::read_more_constraints("more.h5", system),
                       doctest::Contains("more.h5: is HDF5 by its ending; constraints are added from text"),
                       InputError);
}

TEST_CASE("constraints: a solution is believed of those that it is of") {
  test::ClauseFolder const folder;
  auto const path = folder.write("", "x.h5");
  auto const system = test::random_constraints(3);
  io::PointsTo const solved{.constraints = system, .solution = points_to::solve(points_to::make_plan(system))};
  auto const refuse_without = [&](std::string const& dataset, std::string const& message) {
    io::write_points_to(solved, path);
    CHECK(io::read_points_to(path).solution->num_facts() == solved.solution->num_facts());
    fill_with_zeros(path, dataset);
    CHECK_THROWS_WITH_AS(io::read_points_to(path), doctest::Contains(message.c_str()), InputError);
    CHECK(io::read_constraints(path).num_variables == system.num_variables);
  };
  refuse_without("/constraints/destination", "x.h5:/points_to: is not the solution of these constraints");
  refuse_without("/points_to/set_of_variable", "x.h5:/points_to: is not the solution of these constraints");
  refuse_without("/points_to/representative", "x.h5:/points_to/representative: does not fit the sets");
  {
    io::hdf5::Handle const file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    REQUIRE(H5Adelete_by_name(file.get(), "/points_to", "fingerprint", H5P_DEFAULT) >= 0);
  }
  CHECK_THROWS_WITH_AS(io::read_points_to(path),
                       doctest::Contains("x.h5:/points_to@fingerprint: this attribute is missing"), InputError);
}

TEST_CASE("constraints: both formats give back what they were given") {
  test::ClauseFolder const folder;
  auto const path = folder.write("", "x");
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    test::RandomConstraintOptions options{.names = seed % 2 == 0};
    if (seed == 3) options.num_objects = 0;
    if (seed % 5 == 0) options.largest_object = 1;
    auto const system = test::random_constraints(seed, options);
    for (std::string const ending : {".h5", ".cons.txt"}) {
      CAPTURE(ending);
      io::write_constraints(system, path + ending);
      auto const again = io::read_constraints(path + ending);
      CHECK(is_same(system, again));
      CHECK(places_of(system) == places_of(again));
      CHECK(calls_of(system) == calls_of(again));
    }
  }
  CHECK(io::holds_constraints(path + ".h5"));
  for (std::string const ending : {".h5", ".cons.txt"})
    CHECK_THROWS_WITH_AS(io::read_model(path + ending), doctest::Contains("holds points-to constraints, not a model"),
                         InputError);
  CHECK_THROWS_WITH_AS(io::read_constraints(path), doctest::Contains("has not the ending of points-to constraints"),
                       InputError);
  std::filesystem::remove(path + ".nodes.txt");
  CHECK_THROWS_WITH_AS(io::read_constraints(path + ".cons.txt"),
                       doctest::Contains("x.nodes.txt: no such file; it says the number of variables"), InputError);
}
