/// \file
/// Files: models, evidence, cost networks, points-to constraints, circuits and samples, names in texts.
#pragma once

#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/bif.hpp>
#include <hornbill/io/circuit_file.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/io/cost_network_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/io/names.hpp>
#include <hornbill/io/text_file.hpp>
#include <hornbill/io/text_formats.hpp>
#include <hornbill/io/uai.hpp>
