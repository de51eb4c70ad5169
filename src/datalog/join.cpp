#include "join.hpp"

#include <algorithm>
#include <bit>

namespace hornbill::datalog {
namespace {

class Planner {
 public:
  Planner(Rule const& rule, std::span<Columns const> needed)
      : rule_(rule),
        needed_(needed),
        is_bound_(rule.variables.size()),
        is_taken_(rule.body.size()),
        is_compared_(rule.comparisons.size()),
        is_looked_up_(rule.negated.size()) {}

  std::optional<std::vector<JoinStep>> run(Index first) {
    steps_.emplace_back();
    decide(steps_.back());
    for (std::size_t i = 0; i < rule_.body.size(); ++i) {
      Index const premise = i == 0 && first >= 0 ? first : next();
      if (premise < 0) return {};
      is_taken_[premise] = true;
      auto& step = steps_.emplace_back();
      step.premise = premise;
      step.columns = known_columns(rule_.body[premise]);
      for (auto const& term : rule_.body[premise].terms)
        if (term.kind == Term::Kind::variable) is_bound_[term.value] = true;
      decide(step);
    }
    return std::move(steps_);
  }

 private:
  bool is_known(Term const& term) const {
    return term.kind == Term::Kind::constant || (term.kind == Term::Kind::variable && is_bound_[term.value]);
  }
  Columns known_columns(Atom const& atom) const {
    Columns columns = 0;
    for (std::size_t i = 0; i < atom.terms.size(); ++i)
      if (is_known(atom.terms[i])) columns |= Columns{1} << i;
    return columns;
  }
  /// The premise of which most columns are known; of several the first one. None if all that are left need more.
  Index next() const {
    Index best = -1;
    int most = -1;
    for (std::size_t i = 0; i < rule_.body.size(); ++i) {
      auto const known = std::popcount(known_columns(rule_.body[i]));
      auto const needed = needed_[rule_.body[i].relation];
      if (is_taken_[i] || known <= most || (known_columns(rule_.body[i]) & needed) != needed) continue;
      most = known;
      best = static_cast<Index>(i);
    }
    return best;
  }
  void decide(JoinStep& step) {
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t i = 0; i < rule_.comparisons.size(); ++i) {
        auto const& [kind, left, right] = rule_.comparisons[i];
        bool const knows_left = is_known(left), knows_right = is_known(right);
        if (is_compared_[i] || !(knows_left || knows_right)) continue;
        if (knows_left && knows_right) {
          step.comparisons.push_back(rule_.comparisons[i]);
        } else if (kind == Comparison::Kind::equal) {
          step.assignments.push_back(knows_right ? rule_.comparisons[i] : Comparison{kind, right, left});
          is_bound_[step.assignments.back().left.value] = true;
        } else {
          continue;
        }
        is_compared_[i] = changes = true;
      }
    }
    for (std::size_t i = 0; i < rule_.negated.size(); ++i) {
      auto const& terms = rule_.negated[i].terms;
      if (is_looked_up_[i] ||
          !std::ranges::all_of(terms, [&](Term const& t) { return t.kind == Term::Kind::any || is_known(t); }))
        continue;
      is_looked_up_[i] = true;
      step.negated.push_back(static_cast<Index>(i));
    }
  }

  Rule const& rule_;
  std::span<Columns const> needed_;
  std::vector<bool> is_bound_, is_taken_, is_compared_, is_looked_up_;
  std::vector<JoinStep> steps_;
};

}  // namespace

std::optional<std::vector<JoinStep>> join_steps(Rule const& rule, std::span<Columns const> needed, Index first) {
  return Planner(rule, needed).run(first);
}

}  // namespace hornbill::datalog
