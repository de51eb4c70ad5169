/// \file
/// Points-to analysis: constraints, and the sets of objects that variables may point to.
#pragma once

#include <hornbill/points_to/constraints.hpp>
#include <hornbill/points_to/derivations.hpp>
#include <hornbill/points_to/generate.hpp>
#include <hornbill/points_to/plan.hpp>
#include <hornbill/points_to/solution.hpp>
#include <hornbill/points_to/solve.hpp>
