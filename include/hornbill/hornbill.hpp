/// \file
/// All of Hornbill in one include.
#pragma once

#include <hornbill/analysis/build.hpp>
#include <hornbill/analysis/clauses.hpp>
#include <hornbill/analysis/explain.hpp>
#include <hornbill/analysis/learn.hpp>
#include <hornbill/analysis/prune.hpp>
#include <hornbill/analysis/ranking.hpp>
#include <hornbill/analysis/simplify.hpp>
#include <hornbill/backend/instantiations.hpp>
#include <hornbill/backend/registry.hpp>
#include <hornbill/bp/acceleration.hpp>
#include <hornbill/bp/expected_counts.hpp>
#include <hornbill/bp/factor_belief.hpp>
#include <hornbill/bp/inference.hpp>
#include <hornbill/bp/run.hpp>
#include <hornbill/bp/schedule.hpp>
#include <hornbill/config.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/bayesian_network.hpp>
#include <hornbill/graph/generate.hpp>
#include <hornbill/graph/horn_factor.hpp>
#include <hornbill/graph/sample_world.hpp>
#include <hornbill/io/factor_graph_file.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/io/text_formats.hpp>
