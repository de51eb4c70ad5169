/// \file
/// What the host needs to know of each type of factor.
///
/// Each question is one switch over all types, without a default: where a new type is added, the compiler names the
/// questions that it leaves open. What only one file asks is a switch there.
#pragma once

#include <cstddef>
#include <string>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill {

/// Types that there are, numbered from 0.
inline constexpr std::size_t num_factor_types = 3;

/// Throw Error: a type that is asked for what it does not have, or one that validate() would have refused.
[[noreturn]] void fail_on_factor_type(FactorType type);

/// What messages and files call a type.
constexpr char const* name_of(FactorType type) {
  switch (type) {
    case FactorType::conjunction: return "AND";
    case FactorType::disjunction: return "OR";
    case FactorType::table: return "table";
  }
  fail_on_factor_type(type);
}

/// The types and their numbers, e.g. for messages: "0 (AND), 1 (OR) and 2 (table)".
std::string known_factor_types();

/// True if a factor is a table of values of its own, over variables of any cardinality. Others are Horn factors:
/// P(head | body) of binary variables, with p1 where the body fires and p2 where it does not.
constexpr bool is_table(FactorType type) {
  switch (type) {
    case FactorType::conjunction:
    case FactorType::disjunction: return false;
    case FactorType::table: return true;
  }
  fail_on_factor_type(type);
}

/// Whether a Horn factor's body fires.   \param all, some  whether all or some of its variables are true
constexpr bool fires(FactorType type, bool all, bool some) {
  switch (type) {
    case FactorType::conjunction: return all;
    case FactorType::disjunction: return some;
    case FactorType::table: break;
  }
  fail_on_factor_type(type);
}

/// The value of a variable of the body that by itself decides whether it fires: it does if that value is true, and does
/// not if it is false. A body in which none has that value is the other way round.
constexpr bool deciding_value(FactorType type) {
  switch (type) {
    case FactorType::conjunction: return false;
    case FactorType::disjunction: return true;
    case FactorType::table: break;
  }
  fail_on_factor_type(type);
}

/// True if kernels run a factor as a conjunction of complements, with the p1 and p2 that it then has.
constexpr bool is_complemented(FactorType type) {
  switch (type) {
    case FactorType::disjunction: return true;
    case FactorType::conjunction:
    case FactorType::table: return false;
  }
  fail_on_factor_type(type);
}

/// True if a factor is an instance of a rule, which is tried where its body holds; others only collect.
constexpr bool is_rule_instance(FactorType type) {
  switch (type) {
    case FactorType::conjunction: return true;
    case FactorType::disjunction:
    case FactorType::table: return false;
  }
  fail_on_factor_type(type);
}

}  // namespace hornbill
