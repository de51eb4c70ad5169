/// \file
/// Models on the host: factor graphs, evidence, queries; generated ones.
#pragma once

#include <hornbill/graph/bayesian_network.hpp>
#include <hornbill/graph/factor_traits.hpp>
#include <hornbill/graph/generate.hpp>
#include <hornbill/graph/horn_factor.hpp>
#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/graph/model.hpp>
#include <hornbill/graph/sample_world.hpp>
#include <hornbill/graph/stored_schedule.hpp>
