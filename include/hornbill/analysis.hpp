/// \file
/// From clauses of a program analysis to a model, its ranking and its rules.
#pragma once

#include <hornbill/analysis/build.hpp>
#include <hornbill/analysis/clauses.hpp>
#include <hornbill/analysis/explain.hpp>
#include <hornbill/analysis/learn.hpp>
#include <hornbill/analysis/prune.hpp>
#include <hornbill/analysis/ranking.hpp>
#include <hornbill/analysis/simplify.hpp>
