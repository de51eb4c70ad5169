/// \file
/// Loopy belief propagation over Horn-clause factor graphs and dense tables.
#pragma once

#include <hornbill/bp/acceleration.hpp>
#include <hornbill/bp/evidence.hpp>
#include <hornbill/bp/evidence_sets.hpp>
#include <hornbill/bp/expected_counts.hpp>
#include <hornbill/bp/factor_belief.hpp>
#include <hornbill/bp/factor_graph.hpp>
#include <hornbill/bp/host_plan.hpp>
#include <hornbill/bp/inference.hpp>
#include <hornbill/bp/joint_beliefs.hpp>
#include <hornbill/bp/movement.hpp>
#include <hornbill/bp/plan.hpp>
#include <hornbill/bp/report.hpp>
#include <hornbill/bp/run.hpp>
#include <hornbill/bp/schedule.hpp>
#include <hornbill/bp/state.hpp>
#include <hornbill/bp/tasks.hpp>
