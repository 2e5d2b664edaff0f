"""The slow tests: `make test` starts with them, `make quick` leaves them out, `make deep` has all.

An entry is how the ids of tests begin: a folder, a file, or a test of a file. The slowest stand
first. `python -m pytest --durations=10` shows which tests are slow.
"""

import re
import zlib
from collections import Counter

HOSTS = (
    "catboost",
    "ir_datasets",
    "lightgbm",
    "scikit_learn",
    "torchmetrics",
    "xgboost",
)  # pages in docs/hosts
SLOW = (
    # Processes that are killed, and a database server.
    "tests/analysis/history/test_history_databases.py",
    # Spark: a Java machine.
    "tests/spark/",
    "tests/dialects/test_spark_mllib.py",
    "tests/project/test_coming_from.py::test_the_page_of_mllib",
    "tests/project/test_documentation.py::test_python_on_the_page[docs/guides/large_data.md]",
    # A browser, early: it is one long piece of work.
    "tests/browser/",
    # PyTorch and JAX: compilers.
    "tests/training/",
    "tests/rows/test_numbers_in_tensors.py",
    "tests/rows/test_series.py",
    "tests/analysis/comparison/test_examples.py",
    # Trainers.
    "tests/integrations/",
    *(
        f"tests/project/test_documentation.py::test_python_on_the_page[docs/hosts/{page}.md]"
        for page in HOSTS
    ),
    "tests/project/test_documentation.py::test_examples_in_docstrings[integrations]",
    # Other tools, some of which compile themselves.
    "tests/dialects/test_dialects_against_formulas.py",
    "tests/dialects/test_dialects_against_tools.py",
    "tests/dialects/test_golden_vector.py",
    "tests/dialects/test_vectors_of_tools.py",
    "tests/dialects/test_refusals.py",
    "tests/project/test_coming_from.py",
    "tests/evaluation/test_measures_against_tools.py",
    "tests/evaluation/test_cwl_view.py",
    "tests/evaluation/test_time_and_text.py",
    "tests/evaluation/test_other_tools.py",
    "tests/measures/test_defined_by_ir_measures.py",
    "tests/measures/test_measures_of_ir_measures.py",
    "tests/compat/test_pytrec_eval.py",
    # Charts and pages: a schema of a thousand parts checks each chart, and a renderer draws it.
    "tests/output/plotting/test_charts.py",
    "tests/output/plotting/test_chart_names.py",
    "tests/output/plotting/test_saving_charts.py",
    "tests/output/plotting/test_plot_accessors.py",
    "tests/reporting/",
    "tests/cli/test_report_command.py",
    "tests/cli/test_project_file.py::test_a_report_takes_judgments_and_texts",
    "tests/project/test_pickling.py::test_results_print_the_same_after_a_round_trip",
    "tests/evaluation/test_measures_against_ir_measures.py",
    "tests/evaluation/test_ideals.py::test_losses_know_the_list_alone",
    "tests/project/test_architecture_recipes.py",
    "tests/project/test_added_choice.py",
    "tests/project/test_charts_of_pages.py",
    # Servers: a database, a model, the desk.
    "tests/judging/desk/test_study.py",
    "tests/judging/desk/test_study_databases.py",
    "tests/judging/desk/test_desk_exports.py",
    "tests/judging/desk/test_desk_load.py",
    "tests/judging/desk/test_desk_safety.py",
    "tests/judging/desk/test_desk_setup.py",
    "tests/judging/desk/test_desk_slips.py",
    "tests/judging/desk/test_what_judging_has_done.py",
    "tests/cli/test_project_trust.py",
    "tests/cli/test_judge_command.py",
    "tests/cli/test_terminal.py",
    "tests/judging/assessors/test_collect_grades.py",
    "tests/judging/assessors/test_spending_limit.py",
    # Many small cases.
    "tests/compat/vectors/",
    "tests/cli/test_conformance_command.py",
    # Many random cases.
    "tests/project/test_misuse.py",
    "tests/cli/test_calibrate_and_sample.py",
    "tests/analysis/explanation/test_explain_families.py",
    "tests/judging/assessors/test_effect_of_disagreement.py",
    "tests/arithmetic/test_tukey.py",
    "tests/fuzzing/",
    "tests/dialects/test_which.py",
    "tests/dialects/test_why.py",
    "tests/dialects/test_matching_once.py",
    "tests/analysis/explanation/test_attribution.py",
    "tests/evaluation/test_against_literal.py",
    "tests/evaluation/test_expectations_over_ties.py",
    "tests/evaluation/test_facts.py",
    "tests/evaluation/test_many_cutoffs.py::test_many_cutoffs_beside_a_few",
    "tests/evaluation/test_measures_against_literal.py",
    "tests/evaluation/test_measure_properties.py",
    "tests/evaluation/test_bounds.py",
    "tests/playground/test_playground_arithmetic.py",
    "tests/judging/test_limits.py",
    "tests/judging/test_next_to_judge.py",
    "tests/matching/test_precision.py",
    "tests/matching/test_same_matched.py",
    "tests/analysis/linting/test_rules_against_literal.py",
    "tests/evaluation/subtopics/test_against_oracles.py",
    "tests/evaluation/test_exactness.py::test_blocks_of_any_size_equal_the_mean_over_all_orders",
    "tests/arithmetic/test_agreement.py::test_rbo_against_the_definition",
    "tests/arithmetic/test_resampling.py::test_the_threads_of_a_blas_change_no_bit",
    "tests/output/writing/test_documents.py::test_ranks_follow_the_scores_and_ties_the_ids",
    "tests/rows/test_white_space.py",
    "tests/rows/test_decimal_parsing.py::test_every_number_is_the_nearest",
    "tests/rows/test_long_rows.py",
    "tests/rows/test_ranks.py",
    "tests/rows/test_odd_files.py",
    "tests/rows/test_line_ends.py",
    "tests/rows/test_bytes_that_are_no_text.py",
    "tests/rows/test_versioned_tables.py",
    "tests/rows/test_ratings_with_times.py",
    "tests/rows/test_tables_elsewhere.py",
    "tests/rows/test_stored_tables.py",
    "tests/cli/test_output_endings.py::test_every_table",
    "tests/rows/test_one_answer.py",
    "tests/rows/test_order_of_responses.py::test_every_part_keeps_it",
    "tests/matching/test_arrays_of_ids.py::test_the_same_as_lists",
    "tests/project/test_results.py::test_a_huge_result_is_a_small_page",
    "tests/matching/test_keyword_options.py::test_the_threads_of_an_engine_hold",
    "tests/matching/test_keyword_options.py::test_progress_is_told_from_files",
    "tests/rows/test_columns.py::test_every_alias_of_a_run",
    "tests/rows/test_json.py::test_large_numbers_that_a_float64_holds_are_taken",
    "tests/rows/test_json.py::test_a_key_twice_among_very_many_is_found_at_once",
    "tests/analysis/linting/test_check.py",
    "tests/matching/test_disjoint_documents.py",
    "tests/matching/test_small_tables.py",
    "tests/rows/test_grades_in_some_records.py",
    "tests/judging/assessors/test_assessor_agreement.py",
    "tests/arithmetic/test_agreement.py::test_scipy_finds_the_same_tau",
    "tests/arithmetic/test_paired_tests.py",
    "tests/judging/test_pool_bias.py::test_values_are_those_of_a_literal_recomputation",
    "tests/output/writing/test_documents.py::test_large_files_are_packed_whole",
    "tests/cli/test_cli.py::test_large_tables_are_written_at_once",
    "tests/cli/test_why_command.py",
    "tests/judging/test_pool.py::test_the_pool_is_that_of_its_definition_for_odd_ids",
    "tests/analysis/explanation/test_explain.py::test_the_value_is_that_of_the_evaluation",
    "tests/cli/test_compare_command.py::test_files_for_machines_and_people",
    "tests/rows/test_named_columns.py::test_every_function_honours_or_refuses",
    "tests/rows/test_named_columns.py::test_names_are_honoured_or_refused_in_every_form",
    "tests/rows/test_named_columns.py::test_numbers_mean_that_there_is_no_header",
    "tests/rows/test_text_details.py::test_marks_and_blank_lines",
    "tests/judging/test_pool.py::test_every_kind_of_input_gives_the_same",
    "tests/analysis/comparison/test_slices.py::test_p_is_corrected_over_all_slices",
    "tests/output/writing/test_round_trips.py",
    "tests/rows/test_same_from_every_form.py",
    "tests/rows/test_choices.py",
    "tests/rows/test_engine.py",
    "tests/evaluation/test_unjudged.py",
    "tests/analysis/comparison/test_gate_error_rates.py",
    "tests/analysis/comparison/test_invariance.py",
    "tests/arithmetic/test_error_rates.py",
    "tests/rows/test_lists_and_records.py::test_ranx_objects",
    "tests/rows/test_lists_and_records.py::test_ir_measures_tuples",
    "tests/evaluation/test_oracles.py::test_the_tests_of_an_oracle_run_for_the_families_that_it_vouches_for[ir_measures",
    "tests/project/test_first_pages.py::test_the_tests_of_ranx_are_those_that_the_table_names",
    "tests/project/test_released_api.py::test_name_still_works[gainful.losses.Loss]",
    "tests/project/test_released_api.py::test_parameters_by_place_keep_their_order",
    "tests/rows/test_runs_by_name.py::test_every_function_takes_them",
    "tests/rows/test_bad_files.py::test_runs",
    "tests/rows/test_ids.py",
    "tests/rows/test_clean_text_files.py::test_same_as_dicts",
    "tests/rows/test_clean_json_lines.py",
    "tests/analysis/fusion/",
    "tests/measures/test_check_measure.py",
    "tests/measures/test_own_discounts.py",
    "tests/measures/test_measure_cookbook.py",
    "tests/measures/test_measures_of_baseline.py::test_the_formula_of_both_values",
    "tests/measures/test_named_discounts_and_gains.py::test_tensors_and_losses_take_names",
    "tests/rows/test_clean_text_files.py::test_same_of_tables",
    "tests/rows/test_json.py::test_the_engine_reads_values_as_the_rows_are_read",
    "tests/output/writing/test_ids_come_back.py",
    "tests/measures/test_gain_tables.py::test_tensors_have_the_same_gains",
    "tests/matching/test_keyword_options.py::test_a_dict_of_choices_is_a_policy",
    "tests/matching/test_keyword_options.py::test_tools_are_set_beside_each_other",
    "tests/cli/test_project_file.py::test_judgments_by_option_are_those_of_the_first_file",
    "tests/cli/test_project_file.py::test_a_short_call_is_the_long_one",
    "tests/project/test_public_api.py::test_a_place_can_be_imported_and_shows_its_names_alone",
    "tests/matching/test_keyword_options.py::test_a_dialect_is_its_measures_under_its_policy[report]",
    "tests/analysis/linting/test_check_json.py",
    "tests/analysis/linting/test_check.py::test_numbers_that_are_not_finite",
    "tests/analysis/linting/test_check.py::test_ranks_that_contradict_the_scores",
    "tests/analysis/comparison/test_query_differences.py::test_it_is_what_the_difference_is_made_of",
    "tests/evaluation/test_scores.py::test_the_same_call_gives_the_same_bits",
    "tests/measures/test_notation.py::test_any_text_is_a_measure_or_refused",
    "tests/measures/test_notation.py::test_what_is_written_reads_back_as_the_same_measure",
    "tests/arithmetic/test_agreement.py::test_tau_and_tau_ap_of_orders",
    "tests/arithmetic/test_agreement.py::test_what_is_seen_further_down_only_narrows_the_bounds",
    "tests/arithmetic/test_corrections.py::test_they_are_those_of_statsmodels",
    # Processes of their own, and every format of what takes a second to compute.
    "tests/project/test_import_law.py::test_an_evaluation_loads_only_what_it_uses",
    "tests/project/test_import_law.py::test_the_help_of_commands_loads_only_what_it_names",
    "tests/project/test_import_law.py::test_what_is_heavy_can_be_seen",
    "tests/project/test_public_api.py::test_places_need_no_import_of_their_own",
    "tests/cli/test_check_command.py::test_other_formats_and_a_file",
    "tests/cli/test_ci_templates.py",
    "tests/cli/test_chunk_map_option.py::test_packed_or_from_standard_input",
    "tests/cli/test_cli.py::test_a_closed_pipe_and_a_closed_input_are_no_accidents",
    "tests/cli/test_convert.py::test_standard_input_and_output",
    "tests/cli/test_project_file.py::test_without_a_file_nothing_is_loaded_to_read_one",
    "tests/output/writing/test_replacing.py::test_a_limit_on_the_size_of_files",
    "tests/rows/test_streams.py",
    "tests/rows/test_any_system.py",
    "tests/cli/test_standard_input.py",
    "tests/cli/test_gate_in_json.py::test_a_change_can_be_asked_for_under_any_locale",
    "tests/evaluation/test_threads_and_forks.py",
    "tests/cli/test_columns_option.py",
    "tests/cli/test_process.py",
    "tests/cli/test_interrupt.py",
    "tests/project/test_documentation.py",
)

# What is started once for all tests that use it: these run in one process, in the order of SLOW.
RESOURCES = {
    "Spark": (
        "tests/spark/",
        "tests/dialects/test_spark_mllib.py",
        "tests/project/test_coming_from.py::test_the_page_of_mllib",
        # It stops the session, so it comes last.
        "tests/project/test_documentation.py::test_python_on_the_page[docs/guides/large_data.md]",
    ),
    "browser": ("tests/browser/",),
}


# What waits for other programs: somewhat more than a third of the time. Of three processes, the first
# collects and runs this alone, for to collect all tests takes 17 seconds; the other two have the rest,
# and help at the end.
APART = (
    *(start for starts in RESOURCES.values() for start in starts),
    "tests/judging/desk/",
    "tests/integrations/recording/",
    "tests/integrations/calling/",
    "tests/cli/",
    "tests/judging/assessors/test_collect_grades.py",
    "tests/judging/assessors/test_spending_limit.py",
)


def shared_resource(nodeid):
    """Return the resource that a test shares with others, or None."""
    return next((name for name, starts in RESOURCES.items() if nodeid.startswith(starts)), None)


_PACKED = re.compile(r"(.*?)(\.gz|\.zst|)", re.DOTALL)

# Tests with a matrix of cases that takes long: `make test` tries one in so many of them, among which
# is every value of every parameter, and `make deep` tries all.
THINNED = {
    "tests/spark/test_spark_input.py::test_the_rows_of_a_query_are_in_one_place_after_grouping": 16,
    "tests/spark/test_stream.py::test_the_same_as_from_dicts": 16,
    "tests/training/test_jax_operations.py::test_relaxed_orders_from_rank_to_rank": 16,
    "tests/training/test_listwise_at_once.py::test_values_and_gradients_are_those_of_the_formula": 16,
    "tests/training/test_losses.py::test_odd_input_is_finite": 72,
    "tests/training/test_losses.py::test_pytorch_and_jax_compute_the_formula": 24,
    "tests/training/test_losses_far.py::test_an_item_far_away_takes_no_digits_from_the_others": 16,
    "tests/training/test_losses_far.py::test_exponential_gains_of_whole_grades_are_exact_in_jax": 16,
    "tests/training/test_losses_in_blocks.py::test_distributions_of_ranks": 16,
    "tests/training/test_losses_in_blocks.py::test_relaxed_orders": 16,
    "tests/training/test_losses_odd.py::test_an_infinite_score_makes_its_list_nan": 24,
    "tests/training/test_losses_odd.py::test_small_labels_keep_their_digits": 24,
    "tests/training/test_losses_odd.py::test_what_is_not_known_makes_its_list_nan": 24,
    "tests/training/test_losses_published.py::test_bounds_and_limits": 16,
    "tests/training/test_losses_transformed.py::test_under_autocast": 16,
    "tests/training/test_metrics.py::test_every_discount": 16,
    "tests/training/test_metrics.py::test_every_gain": 16,
    "tests/training/test_metrics.py::test_half_precision_is_summed_in_single": 16,
    "tests/training/test_metrics.py::test_values_are_those_of_evaluate_arrays": 36,
    "tests/training/test_metrics_precision.py::test_an_ndcg_just_below_one_is_not_one": 16,
    "tests/training/test_metrics_precision.py::"
    "test_the_mean_discount_of_equal_scores_is_exact_at_every_rank": 16,
    "tests/training/test_metrics_standard.py::test_values_are_those_of_numpy": 16,
    "tests/training/test_padding.py::test_a_loss_takes_the_label_of_padding": 16,
    "tests/training/test_pairs_at_once.py::test_every_gain_and_discount": 16,
    "tests/training/test_pairs_at_once.py::test_every_scheme_at_every_cutoff": 16,
    "tests/training/test_pairs_at_once.py::test_far_scores": 16,
    "tests/training/test_pairs_at_once.py::test_values_and_gradients_are_those_of_the_formula": 36,
    "tests/training/test_pl_rank.py::test_draws_agree_with_the_expectation": 16,
    "tests/judging/desk/test_what_judging_has_done.py::"
    "test_bounds_and_verdict_are_those_of_the_exported_file": 16,
    "tests/dialects/test_dialects_against_formulas.py::test_formulas": 16,
    "tests/dialects/test_dialects_against_tools.py::test_lists": 24,
    "tests/dialects/test_dialects_against_tools.py::test_lists_of_a_run": 8,
    "tests/dialects/test_golden_vector.py::test_from_python": 16,
    "tests/dialects/test_refusals.py::test_the_measure_of_every_row_reads_back": 16,
    "tests/dialects/test_spark_mllib.py::test_means": 12,
    "tests/dialects/test_why.py::test_parts_sum_to_the_gap": 36,
    "tests/evaluation/test_against_literal.py::test_every_measure_under_the_default_policy": 24,
    "tests/evaluation/test_against_literal.py::test_random_cases_with_random_settings": 16,
    "tests/evaluation/test_expectations_over_ties.py::"
    "test_a_rule_that_settles_ties_gives_the_value_of_its_order": 16,
    "tests/evaluation/test_many_cutoffs.py::test_many_cutoffs_beside_a_few": 12,
    "tests/evaluation/test_measures_against_tools.py::test_every_query": 16,
    "tests/evaluation/test_measures_against_tools.py::test_over_all_queries": 16,
    "tests/evaluation/test_other_tools.py::test_scikit_learn_averages_ties": 16,
    "tests/evaluation/test_other_tools.py::test_scikit_learn_on_the_lists_of_a_run": 16,
    "tests/evaluation/test_unjudged.py::"
    "test_documents_that_are_marked_alone_are_warned_of_from_every_form": 8,
    "tests/evaluation/test_unjudged.py::"
    "test_minus_one_as_the_only_negative_grade_is_warned_of_from_every_form": 8,
    "tests/analysis/explanation/test_explain_families.py::"
    "test_the_steps_of_every_family_lead_to_its_value": 8,
    "tests/analysis/fusion/test_clean_runs.py::test_the_same_as_by_the_engine": 16,
    "tests/fuzzing/test_fuzzing.py::test_readers_agree_with_the_reference_on_mutated_files": 16,
    "tests/fuzzing/test_fuzzing.py::test_every_reader_on_every_end_of_a_header": 4,
    "tests/rows/test_line_ends.py::test_small_tables": 4,
    "tests/rows/test_line_ends.py::test_side_tables": 8,
    "tests/rows/test_versioned_tables.py::test_python": 6,
    "tests/rows/test_ratings_with_times.py::test_the_message_has_the_columns_to_pass": 6,
    "tests/rows/test_tables_elsewhere.py::test_addresses": 6,
    "tests/rows/test_bad_files.py::test_runs": 8,
    "tests/rows/test_choices.py::test_a_rule_for_duplicates_where_there_are_none": 8,
    "tests/rows/test_choices.py::test_chunks": 48,
    "tests/rows/test_choices.py::test_duplicates": 8,
    "tests/rows/test_choices.py::test_policies_that_refuse": 8,
    "tests/rows/test_choices.py::test_queries_that_retrieve_themselves": 8,
    "tests/rows/test_choices.py::test_unjudged": 8,
    "tests/rows/test_clean_json_lines.py::test_same_as_dicts": 16,
    "tests/rows/test_clean_json_lines.py::"
    "test_what_is_read_after_an_accident_is_what_the_rows_are": 16,
    "tests/rows/test_clean_text_files.py::test_same_as_dicts": 16,
    "tests/rows/test_ids.py::test_a_frame_with_ids_of_two_types": 8,
    "tests/rows/test_ids.py::test_half_a_character_is_refused_in_every_form": 8,
    "tests/rows/test_json.py::test_large_numbers_that_a_float64_holds_are_taken": 16,
    "tests/rows/test_long_rows.py::test_rows_longer_than_the_engine_reads": 8,
    "tests/rows/test_long_rows.py::test_the_zeros_that_a_crash_leaves_are_no_end": 8,
    "tests/rows/test_named_columns.py::test_names_are_honoured_or_refused_in_every_form": 8,
    "tests/rows/test_named_columns.py::test_numbers_mean_that_there_is_no_header": 8,
    "tests/rows/test_odd_files.py::test_a_field_too_many": 8,
    "tests/rows/test_odd_files.py::test_blank_lines_before_the_header": 8,
    "tests/rows/test_odd_files.py::test_two_columns_of_one_name": 16,
    "tests/rows/test_ranks.py::test_a_column_of_ranks_that_is_named_as_scores": 16,
    "tests/rows/test_same_from_every_form.py::test_as_a_run": 36,
    "tests/rows/test_same_from_every_form.py::test_as_judgments": 8,
    "tests/rows/test_streams.py::test_standard_input_in_every_format": 16,
    "tests/rows/test_streams.py::test_streams_of_arrow_batches": 16,
    "tests/rows/test_text_details.py::test_marks_and_blank_lines": 8,
    "tests/rows/test_white_space.py::test_only_the_white_space_of_c_separates_fields": 8,
    "tests/rows/test_white_space.py::test_parts_of_a_file_of_any_size": 16,
    "tests/integrations/test_objectives.py::"
    "test_negative_labels_and_equal_scores_are_those_of_the_loss": 16,
    "tests/integrations/test_objectives.py::test_the_gradient_is_that_of_the_loss": 16,
    "tests/integrations/test_retrieval_measures.py::test_questions_one_by_one_are_those_of_evaluate": 16,
    "tests/evaluation/test_bounds.py::test_bounds_are_the_ends_of_all_assignments": 8,
    "tests/judging/test_next_to_judge.py::test_every_kind_of_input_gives_the_same": 8,
    "tests/judging/test_next_to_judge.py::test_priorities_are_those_of_a_literal_recomputation": 36,
    "tests/judging/test_pool.py::test_every_kind_of_input_gives_the_same": 8,
    "tests/analysis/linting/test_rules_against_literal.py::test_counts_are_those_of_the_definitions": 16,
    "tests/matching/test_precision.py::test_as_float64_they_are_scores_as_any_other": 8,
    "tests/matching/test_precision.py::test_beside_other_choices": 16,
    "tests/matching/test_precision.py::test_clean_files_without_the_engine": 24,
    "tests/matching/test_precision.py::test_every_form_of_a_run": 36,
    "tests/matching/test_precision.py::test_scores_that_a_float32_cannot_hold": 12,
    "tests/matching/test_precision.py::test_worked_by_hand": 8,
    "tests/matching/test_same_matched.py::test_flat_arrays_with_query_ids": 8,
    "tests/matching/test_same_matched.py::test_negative_labels_that_are_no_judgments": 16,
    "tests/measures/test_check_measure.py::test_what_is_wrong_is_found": 16,
    "tests/measures/test_measures_of_baseline.py::test_the_formula_of_both_values_of_each_query": 16,
    "tests/output/plotting/test_chart_names.py::test_no_name_gets_into_code": 8,
    "tests/output/plotting/test_charts.py::test_the_theme_is_the_config": 8,
    "tests/arithmetic/test_agreement.py::test_scipy_finds_the_same_tau": 16,
    "tests/arithmetic/test_error_rates.py::test_t_and_randomisation_keep_their_level": 8,
    "tests/arithmetic/test_tukey.py::test_the_studentised_range_is_scipys": 16,
    "tests/evaluation/subtopics/test_against_oracles.py::test_the_same_as_ndeval_with_other_parameters": 16,
    "tests/evaluation/subtopics/test_against_oracles.py::test_the_same_as_the_literal_implementation": 16,
    "tests/output/writing/test_ids_come_back.py::test_a_join_with_arrow": 16,
    "tests/output/writing/test_ids_come_back.py::test_a_join_with_pandas": 8,
    "tests/output/writing/test_ids_come_back.py::test_a_join_with_polars": 16,
    "tests/output/writing/test_ids_come_back.py::test_what_cannot_have_been_of_the_type_is_text": 16,
    "tests/output/writing/test_round_trips.py::test_any_ids_and_numbers": 16,
    "tests/output/writing/test_round_trips.py::test_every_name": 8,
    "tests/training/test_jax_operations.py::test_falls_in_whole_numbers": 8,
    "tests/training/test_metrics_precision.py::"
    "test_where_no_scores_are_equal_both_rules_give_the_same_to_the_last_digit": 8,
    "tests/cli/test_ci_templates.py::test_judgments_stay_judgments_beside_a_project_file": 16,
    "tests/judging/desk/test_desk_exports.py::"
    "test_merging_an_export_by_assessor_gives_what_the_study_has_merged": 16,
    "tests/evaluation/test_threads_and_forks.py::"
    "test_work_in_a_thread_at_the_end_of_the_interpreter": 16,
    "tests/rows/test_bytes_that_are_no_text.py::test_a_column_that_is_not_used": 8,
    "tests/rows/test_bytes_that_are_no_text.py::test_a_column_that_is_used": 8,
    "tests/matching/test_arrays_of_ids.py::test_the_same_as_lists": 16,
    "tests/training/test_jax_operations.py::test_pirank_on_a_gpu_keeps_the_digits": 8,
    "tests/training/test_losses_odd.py::test_gains_beyond_the_type_are_not_known": 16,
    "tests/training/test_padding.py::test_a_measure_takes_the_label_of_padding": 16,
}

# Tests whose cases go one way, each with a value of its own: rows of a table of messages, one loss or
# one chart after the other. `make test` tries one in so many, and `make deep` tries all.
ALIKE = {
    "tests/output/plotting/test_chart_names.py::test_long_names_are_whole": 12,
    "tests/rows/test_clean_text_files.py::test_same_of_tables": 12,
    "tests/judging/test_pool_bias.py::test_values_are_those_of_a_literal_recomputation": 8,
    "tests/judging/test_next_to_judge.py::test_flips_are_those_of_a_literal_recomputation": 8,
    "tests/evaluation/test_facts.py::test_holds": 8,
    "tests/analysis/fusion/test_fuse.py::test_every_method_is_its_formula": 8,
    "tests/training/test_jax_operations.py::test_losses_as_on_a_gpu": 12,
    "tests/rows/test_ranks.py::test_ranks_are_read_from_every_form": 8,
    "tests/rows/test_ranks.py::test_two_documents_of_a_query_have_two_ranks": 8,
    "tests/rows/test_ranks.py::test_scores_under_the_name_of_ranks_are_no_ranks": 8,
    "tests/rows/test_same_from_every_form.py::test_the_same_warning_where_no_document_is_judged": 8,
    "tests/rows/test_same_from_every_form.py::test_evaluated": 8,
    "tests/rows/test_json.py::test_the_engine_reads_values_as_the_rows_are_read": 8,
    "tests/evaluation/test_expectations_over_ties.py::test_best_and_worst_are_the_extremes_of_all_orders": 8,
    "tests/evaluation/test_expectations_over_ties.py::test_average_is_the_mean_over_all_orders": 8,
    "tests/spark/test_same_on_spark.py::test_every_measure_under_every_policy": 48,
    "tests/spark/test_same_on_spark.py::test_slices_are_the_same": 8,
    "tests/spark/test_same_on_spark.py::test_very_many_queries_are_cut_in_another_way": 12,
    "tests/spark/test_spark_input.py::test_rows_have_no_order": 12,
    "tests/spark/test_spark_input.py::test_so_many_documents_reach_the_edge": 16,
    "tests/spark/test_spark_input.py::test_rows_without_a_value": 16,
    "tests/spark/test_spark_text.py::test_a_file_gives_the_same_number_or_the_same_message": 12,
    "tests/browser/test_page_detail.py::test_every_family_has_its_table": 12,
    "tests/browser/test_page_detail.py::test_grades_are_told_apart_by_their_colours": 8,
    "tests/browser/test_page_detail.py::test_what_is_left_out_is_told_and_how_to_see_it": 8,
    "tests/browser/test_page_main.py::test_a_small_screen_does_not_scroll_sideways": 8,
    "tests/browser/test_page_main.py::test_colours_follow_the_system_and_the_switch": 8,
    "tests/browser/test_page_main.py::test_runs_are_sorted_by_a_measure": 8,
    "tests/browser/test_page_odd.py::test_a_long_id_is_read_in_full": 8,
    "tests/browser/test_page_odd.py::test_the_table_of_coverage_fits": 8,
    "tests/browser/test_page_odd.py::test_the_tally_stands_in_columns": 8,
    "tests/browser/test_playground_page.py::test_a_broken_link_is_told": 12,
    "tests/training/test_metrics.py::test_under_the_transformations_of_the_libraries": 8,
    "tests/training/test_losses.py::test_flat_lists_are_the_padded_ones": 24,
    "tests/training/test_losses.py::test_half_precision_is_accumulated_in_single": 24,
    "tests/training/test_losses_odd.py::test_a_large_shift_costs_no_digits": 12,
    "tests/training/test_metrics.py::test_every_level_of_relevance": 12,
    "tests/training/test_metrics.py::test_single_precision_keeps_its_digits_in_long_lists": 12,
    "tests/judging/assessors/test_effect_of_disagreement.py::test_the_items_to_settle_are_those_that_matter": 8,
    "tests/cli/test_calibrate_and_sample.py::test_calibrations_that_are_refused": 8,
    "tests/cli/test_calibrate_and_sample.py::test_comparisons_that_are_refused": 12,
    "tests/cli/test_calibrate_and_sample.py::test_samples_that_are_refused": 8,
    "tests/cli/test_ci_templates.py::test_gitlab": 8,
    "tests/cli/test_interrupt.py::test_a_signal_leaves_nothing_behind": 8,
    "tests/cli/test_interrupt.py::test_the_old_file_stays_where_a_signal_stops_the_new_one": 8,
    "tests/cli/test_project_file.py::test_a_short_call_is_the_long_one": 8,
    "tests/cli/test_project_file.py::test_judgments_by_option_are_those_of_the_first_file": 12,
    "tests/cli/test_standard_input.py::test_every_file_may_be_standard_input": 8,
    "tests/cli/test_standard_input.py::test_every_function_takes_what_can_be_read_once": 8,
    "tests/dialects/test_which.py::test_what_is_above_a_hundred_is_no_percentage": 12,
    "tests/evaluation/test_measures_against_literal.py::test_long_lists": 48,
    "tests/evaluation/test_unjudged.py::"
    "test_it_is_not_where_the_policy_or_another_grade_says_what_it_is": 12,
    "tests/analysis/explanation/test_explain_families.py::"
    "test_the_parts_of_documents_add_up_to_the_difference": 8,
    "tests/analysis/fusion/test_clean_runs.py::test_the_parts_do_not_move_a_bit": 8,
    "tests/fuzzing/test_fuzzing.py::test_lines_that_readers_of_csv_differ_on": 12,
    "tests/rows/test_streams.py::test_a_pipe_is_read_whole_and_once": 12,
    "tests/rows/test_streams.py::test_a_process_substitution": 12,
    "tests/integrations/test_hosts.py::"
    "test_a_host_that_is_missing_is_named_with_what_to_install": 16,
    "tests/integrations/test_pytest_host.py::test_a_marker_that_cannot_be_checked_fails": 8,
    "tests/integrations/test_pytest_host.py::test_what_is_wrong_is_said_in_a_line": 8,
    "tests/matching/test_keyword_options.py::test_a_dict_of_choices_is_a_policy": 8,
    "tests/matching/test_keyword_options.py::test_progress_is_told_from_files": 12,
    "tests/output/plotting/test_chart_names.py::test_any_name_can_be_drawn": 24,
    "tests/output/plotting/test_charts.py::test_a_chart_is_one_of_altair": 12,
    "tests/output/plotting/test_charts.py::test_a_chart_of_nothing_has_axes_all_the_same": 12,
    "tests/output/plotting/test_charts.py::test_a_specification_without_rows_is_legal_and_can_be_drawn": 12,
    "tests/output/plotting/test_charts.py::test_a_width_that_is_none": 12,
    "tests/output/plotting/test_charts.py::test_many_rows_are_no_error": 12,
    "tests/output/plotting/test_charts.py::test_rows_that_come_later_give_the_same_picture": 12,
    "tests/output/plotting/test_charts.py::test_the_rows_are_in_the_chart_as_they_are": 12,
    "tests/output/plotting/test_saving_charts.py::test_every_chart_as_every_kind_of_file": 8,
    "tests/project/test_public_api.py::test_a_place_can_be_imported_and_shows_its_names_alone": 16,
    "tests/compat/vectors/test_conformance.py::test_one_choice_that_is_made_otherwise": 12,
    "tests/compat/vectors/test_conformance.py::test_usual_slips": 12,
    "tests/evaluation/test_measures_against_ir_measures.py::test_every_query": 6,
    "tests/rows/test_one_answer.py::test_every_reader_gives_the_one_answer": 6,
    "tests/rows/test_grades_in_some_records.py::test_lines_in_many_ways": 6,
    "tests/evaluation/subtopics/test_against_oracles.py::test_the_same_as_ndeval": 6,
    "tests/matching/test_small_tables.py::test_what_is_odd_is_told_as_by_the_engine": 4,
    "tests/matching/test_small_tables.py::test_the_same_bits_as_on_the_engine": 4,
    "tests/evaluation/test_unjudged.py::test_coverage_says_what_the_measures_say": 6,
    "tests/dialects/test_vectors_of_tools.py::test_tools_of_lists": 4,
    "tests/judging/desk/test_study.py::test_wrong_input_is_one_short_error_and_records_nothing": 6,
    "tests/compat/test_pytrec_eval.py::test_every_measure_of_pytrec_eval": 4,
    "tests/analysis/comparison/test_invariance.py::test_the_kind_of_input_does_not_matter": 4,
    "tests/rows/test_ids.py::test_ids_that_are_the_same_number": 6,
    "tests/rows/test_odd_files.py::test_files_of_one_column": 4,
    "tests/rows/test_odd_files.py::test_what_is_no_number_in_any_text": 4,
    "tests/rows/test_odd_files.py::test_cells_of_any_length": 4,
    "tests/rows/test_odd_files.py::test_ids_that_begin_as_archives_do": 4,
    "tests/rows/test_same_from_every_form.py::test_several_runs_with_the_same_judgments": 4,
    "tests/project/test_pickling.py::test_results_print_the_same_after_a_round_trip": 4,
    "tests/measures/test_check_measure.py::test_measures_of_the_catalogue": 6,
    "tests/measures/test_measure_cookbook.py::test_the_same_as_its_formula": 6,
    "tests/training/test_imported_frameworks.py::test_a_framework_is_found": 4,
    "tests/spark/test_same_on_spark.py::test_judgments_from_this_machine": 6,
    "tests/reporting/test_report_details.py::test_random_details": 3,
    "tests/rows/test_order_of_responses.py::test_every_part_keeps_it": 5,
    "tests/cli/test_report_command.py::test_a_limit_of_memory_under_which_no_chart_can_be_drawn": 3,
    "tests/cli/test_gate_in_json.py::test_a_change_can_be_asked_for_under_any_locale": 2,
    "tests/evaluation/test_other_tools.py::test_pytrec_eval": 3,
    "tests/rows/test_choices.py::test_duplicates_are_an_error_wherever_they_matter": 2,
    "tests/integrations/test_torchmetrics_host.py::"
    "test_metrics_of_a_collection_that_begin_alike_stay_apart": 3,
    "tests/output/plotting/test_saving_charts.py::test_a_path_that_cannot_be_written": 4,
    "tests/project/test_results.py::test_a_huge_result_is_a_small_page": 3,
    "tests/arithmetic/test_agreement.py::test_rbo_against_the_definition": 2,
    "tests/evaluation/subtopics/test_against_oracles.py::test_facts": 4,
}

# Tests that take long for what they add to others: another size, another place, every page, many
# draws. `make test` leaves them out, as it does the cases above; `make rest` tries a part of all that
# is left out, and each submission another part: see .ci/run.
_LONG = {
    "tests/analysis/explanation/test_attribution.py": (
        "test_exchanging_base_and_run_changes_the_signs_and_nothing_else",
    ),
    "tests/judging/desk/test_study_databases.py": ("test_twenty_assessors_at_once",),
    "tests/arithmetic/test_power.py": (
        "test_a_comparison_with_clusters_finds_differences_as_often_as_computed",
    ),
    "tests/evaluation/test_bounds.py": ("test_bounds_of_a_difference",),
    "tests/arithmetic/test_tukey.py": ("test_numbers_whose_upper_bits_tie_are_ordered_by_all",),
    "tests/dialects/test_matching_once.py": (
        "test_what_serves_for_several_policies_is_what_each_of_them_gives",
    ),
    "tests/integrations/recording/test_whole_story.py": (
        "test_two_versions_of_a_service_are_recorded_and_gated",
    ),
    "tests/project/test_added_choice.py": ("test_for_every_form_of_input",),
    "tests/evaluation/test_estimates_between_bounds.py": (
        "test_methods_with_a_random_sample_hold_where_the_bootstrap_is_biased",
    ),
    "tests/analysis/history/test_history_databases.py": (
        "test_kills_at_random_times_lose_no_completed_entry",
        "test_a_thousand_kills_lose_no_completed_entry",
    ),
    "tests/analysis/history/test_history_file.py": (
        "test_a_thousand_kills_lose_no_completed_entry",
    ),
    "tests/behaviour/test_click_models.py": (
        "test_more_sessions_recover_them_better",
        "test_perplexity_exposes_the_wrong_model",
    ),
    "tests/behaviour/test_judgments_from_clicks.py": (
        "test_intervals_cover_in_a_thousand_simulations",
        "test_a_comparison_says_what_comes_from_the_clicks",
        "test_intervals_cover",
    ),
    "tests/behaviour/test_uncertain_grades.py": (
        "test_intervals_cover",
        "test_intervals_of_differences_cover",
    ),
    "tests/behaviour/test_interleaving.py": ("test_intervals_cover",),
    "tests/behaviour/test_counterfactual.py": ("test_intervals_of_a_run_like_the_log_cover_zero",),
    "tests/spark/test_own_measures_on_spark.py": (
        "test_a_module_that_the_machines_lack",
        "test_compared_sliced_and_gated",
        "test_the_same_as_of_dicts_and_of_files",
        "test_what_is_wrong_with_it_is_told",
    ),
    "tests/spark/test_same_on_spark.py": (
        "test_a_dialect_is_the_same",
        "test_a_mean_whose_sum_is_too_large",
        "test_a_query_without_judged_documents_is_one_all_the_same",
        "test_a_saved_baseline_is_the_same",
        "test_an_explanation_fetches_one_query",
        "test_comparisons_are_the_same",
        "test_rows_without_a_grade_have_grade_1",
        "test_runs_here_and_there_in_one_call",
        "test_what_ties_can_do",
        "test_what_ties_can_do_leaves_nothing_behind",
    ),
    "tests/spark/test_spark_at_work.py": (
        "test_a_file_that_changes_is_measured_anew",
        "test_a_query_with_very_many_documents",
        "test_a_run_in_chunks_is_sent_once",
        "test_a_run_of_very_many_queries_is_sent_once",
        "test_connect_gives_the_same",
        "test_the_command_line_and_a_session_that_was_stopped",
        "test_the_command_line_compares",
        "test_the_run_is_sent_once",
        "test_what_is_below_all_edges_is_left_out_before_edges_are_looked_up",
    ),
    "tests/spark/test_spark_input.py": (
        "test_a_function_says_which_document_a_chunk_belongs_to",
        "test_bytes_of_arrow_batches_are_not_added_up_unless_the_user_says_how_many",
        "test_chunks_without_a_document",
        "test_documents_that_are_judged_twice",
        "test_documents_that_come_twice",
        "test_documents_that_do_not_meet_are_told_as_of_dicts",
        "test_judgments_and_run_in_each_others_place_are_told",
        "test_judgments_without_a_value",
        "test_policies_that_refuse",
        "test_queries_and_documents_that_do_not_meet",
        "test_ranks_that_are_taken_for_scores",
        "test_what_is_wrong_with_judgments_is_told_before_what_is_wrong_with_a_run",
        "test_workers_that_run_another_python",
    ),
    "tests/spark/test_spark_text.py": (
        "test_a_file_in_many_parts",
        "test_judgments_are_as_strict",
        "test_named_columns_and_ranks",
        "test_packed_files",
        "test_several_files_have_the_same_header",
    ),
    "tests/spark/test_stream.py": ("test_a_large_query_is_not_kept",),
    "tests/browser/test_desk_assessor.py": (
        "test_fifty_documents_by_keyboard_while_the_server_is_killed",
    ),
    "tests/browser/test_desk_lead_page.py": (
        "test_a_list_besides_one_document_at_a_time",
        "test_a_second_lead_overwrites_nothing",
        "test_files_come_in_and_grades_are_taken_back",
        "test_reasons_pace_and_a_lost_connection",
        "test_what_cannot_be_exported_says_why",
        "test_what_was_settled_is_undone",
    ),
    "tests/browser/test_desk_pages.py": (
        "test_a_long_scale_leaves_room_for_the_text_on_a_phone",
        "test_a_long_text_full_of_the_words_of_its_query",
        "test_axe_finds_no_grave_fault",
        "test_names_of_other_directions_stay_in_their_places",
        "test_touch_keys_and_undo_of_any_step",
    ),
    "tests/browser/test_desk_tutorial.py": ("test_the_tutorial_in_a_browser",),
    "tests/browser/test_page_accessible.py": ("test_a_detail_has_no_grave_fault",),
    "tests/browser/test_page_assessors.py": (
        "test_the_charts_are_drawn_and_follow_the_measure",
        "test_the_section_has_what_the_agreement_says",
    ),
    "tests/browser/test_page_detail.py": (
        "test_a_bar_leads_to_its_query",
        "test_a_browser_that_cannot_unpack_says_so",
        "test_a_detail_has_an_address",
        "test_a_formula_has_no_table_of_steps",
        "test_a_missing_list_is_said",
        "test_a_query_asked_for_while_another_closes_is_shown",
        "test_a_row_is_as_good_as_its_link",
        "test_an_ideal_of_a_run_has_its_name",
        "test_every_group_has_its_details",
        "test_neighbours_follow_the_table",
        "test_other_lists_may_be_chosen",
        "test_the_ideal_of_all_has_no_name",
        "test_what_is_asked_for_last_is_shown",
    ),
    "tests/browser/test_page_downloads.py": ("test_lines_end_as_the_standard_says",),
    "tests/browser/test_page_main.py": (
        "test_charts_follow_the_width_of_the_window",
        "test_long_tables_come_in_portions",
        "test_paper_is_light_and_whole",
        "test_the_filter_takes_ids_and_texts",
        "test_the_scatter_counts_its_sides",
    ),
    "tests/browser/test_page_odd.py": (
        "test_a_pair_of_runs_has_a_line_for_each",
        "test_an_edge_that_hides_more_is_shaded",
        "test_facts_of_a_run_have_their_names",
        "test_long_names_can_be_told_apart",
        "test_names_are_no_code",
        "test_nothing_that_the_filter_leaves_is_said",
        "test_saved_scores_have_no_list",
        "test_scores_of_a_query_have_the_same_decimals",
        "test_slices_say_how_p_is_corrected",
        "test_what_is_undefined_is_said_and_not_drawn",
    ),
    "tests/browser/test_playground_page.py": (
        "test_a_link_holds_all_that_is_seen",
        "test_axe_finds_no_grave_fault",
        "test_axe_finds_no_grave_fault_in_the_story_or_an_embedded_page",
        "test_dark_and_light",
        "test_dragging_with_a_finger",
        "test_grades_are_typed_and_stepped",
        "test_nothing_sticks_out_of_a_phone",
        "test_the_pictures_of_the_documentation_and_of_link_previews",
    ),
    "tests/browser/test_report_picture.py": ("test_the_picture_of_the_report",),
    "tests/training/test_losses_given.py": ("test_a_loss_is_compiled_and_taken_apart_as_it_is",),
    "tests/training/test_losses_published.py": (
        "test_a_long_list_fits_in_little_memory",
        "test_losses_train_in_jax",
        "test_losses_train_in_pytorch",
    ),
    "tests/training/test_losses_transformed.py": (
        "test_compiled_losses_have_the_same_gradient",
        "test_jax_operation_by_operation",
        "test_losses_compiled_to_machine_code",
        "test_transformations_of_jax",
    ),
    "tests/training/test_metrics.py": (
        "test_compiled_to_machine_code",
        "test_perfect_orders_give_one",
        "test_read_in_one_piece_by_torch_compile",
    ),
    "tests/judging/assessors/test_commands_of_assessors.py": (
        "test_each_table_can_be_written_alone",
    ),
    "tests/cli/test_ci_templates.py": ("test_the_example_on_the_page",),
    "tests/cli/test_process.py": ("test_messages_that_nobody_can_read_change_nothing",),
    "tests/analysis/comparison/test_examples.py": (
        "test_rankers_trained_with_losses_beside_lightgbm",
    ),
    "tests/analysis/comparison/test_gate_error_rates.py": (
        "test_a_run_that_is_as_good_fails_in_one_of_forty_cases",
        "test_proof_is_demanded_of_runs_that_are_worse_by_the_bound",
        "test_with_several_conditions_the_whole_gate_fails_no_more_often",
        "test_with_several_runs_the_whole_gate_fails_no_more_often",
    ),
    "tests/analysis/comparison/test_invariance.py": (
        "test_scale_and_shift_of_all_scores_change_no_decision",
        "test_the_same_seed_gives_the_same_bits_on_any_number_of_cores",
    ),
    "tests/judging/desk/test_desk_load.py": ("test_twenty_assessors_at_two_desks_lose_nothing",),
    "tests/dialects/test_which.py": (
        "test_every_dialect_is_found_by_its_number",
        "test_gainful_under_a_policy",
        "test_percentages",
        "test_the_digits_that_are_known",
    ),
    "tests/analysis/fusion/test_fuse.py": ("test_the_same_numbers_from_every_form",),
    "tests/fuzzing/test_fuzzing.py": ("test_the_command_tries_inputs_and_keeps_none",),
    "tests/rows/test_clean_json_lines.py": (
        "test_lines_unlike_the_first",
        "test_skeletons",
        "test_values",
    ),
    "tests/rows/test_engine.py": ("test_little_memory_gives_the_same",),
    "tests/rows/test_long_rows.py": ("test_a_last_line_of_33_million_bytes",),
    "tests/integrations/test_hosts.py": ("test_trainers_of_trees_need_no_torch",),
    "tests/integrations/test_torchmetrics_host.py": (
        "test_two_processes_have_the_value_of_all_queries",
    ),
    "tests/integrations/test_pytest_host.py": (
        "test_processes_of_xdist_are_summed_up_once",
        "test_the_settings_on_the_page_are_those_that_there_are",
    ),
    "tests/judging/test_pool.py": ("test_the_pool_is_that_of_its_definition_for_odd_ids",),
    "tests/matching/test_keyword_options.py": (
        "test_the_threads_of_an_engine_hold_for_all_of_the_work",
        "test_tools_are_set_beside_each_other_on_folded_documents",
    ),
    "tests/measures/test_own_discounts.py": ("test_losses_take_them",),
    "tests/output/plotting/test_chart_names.py": (
        "test_any_name_of_a_run_can_be_compared_and_drawn",
    ),
    "tests/project/test_coming_from.py": ("test_the_page_of_mllib",),
    "tests/reporting/test_report_size.py": (
        "test_ten_runs_of_a_thousand_queries",
        "test_texts_count",
        "test_the_queries_that_differ_most_are_kept",
        "test_very_many_queries",
    ),
    "tests/training/test_losses_odd.py": ("test_a_gap_is_weighted",),
    "tests/training/test_metrics_precision.py": ("test_documents_that_all_share_a_score",),
    "tests/training/test_listwise_at_once.py": ("test_compiled_in_one_graph_and_once",),
    "tests/training/test_padding.py": ("test_what_is_compiled_or_transformed_is_not_looked_at",),
    "tests/training/test_losses_far.py": ("test_calls_that_are_not_compiled_compile_nothing_anew",),
    "tests/arithmetic/test_prediction_powered.py": (
        "test_intervals_cover_as_often_as_their_level_says",
        "test_so_many_units_show_the_sign_as_often_as_asked_for",
    ),
    "tests/analysis/comparison/test_leaderboard.py": ("test_all_intervals_hold_at_once",),
    "tests/matching/test_disjoint_documents.py": ("test_the_order_of_rows_changes_nothing",),
    "tests/evaluation/test_exactness.py": (
        "test_blocks_of_any_size_equal_the_mean_over_all_orders",
    ),
    "tests/evaluation/recommending/test_debiasing.py": (
        "test_intervals_cover_as_often_as_their_level_says",
    ),
}
ONLY_DEEP = frozenset(f"{file}::{test}" for file, tests in _LONG.items() for test in tests)

# Cases that take the same way through the code as another: {test: {case: the case, or the test,
# that stands for it}}. `make test` tries the others, and `make deep` tries all. What is left out of
# one test is still compared with its formula in another.
_SAME_RANKS = dict.fromkeys(
    ("average_precision", "cg", "dcg", "precision", "recall", "reciprocal_rank"), "ndcg"
)
REPRESENTED = {
    # Of one whose gradient is given, the graph is the same for every backend.
    "tests/training/test_losses_transformed.py::test_losses_compiled_to_machine_code": {
        "approx_ndcg": "xe_ndcg",
    },
    # The page of the assessors has all that that of one run has, and the hostile one all runs and texts.
    "tests/browser/test_page_accessible.py::test_the_page_has_no_grave_fault": {
        "cooking-light": "assessors-dark",
        "hostile-light": "assessors-dark",
        "single-dark": "assessors-dark",
    },
    # What is hostile is the harder of both.
    "tests/browser/test_page_downloads.py::test_csv_files_equal_the_data": {"cooking": "hostile"},
    "tests/browser/test_page_downloads.py::test_json_files_equal_the_data": {"cooking": "hostile"},
    # One selection for all measures; in PyTorch it is tried with each.
    "tests/training/test_metrics.py::test_a_selection_gives_what_a_sort_gives": {
        f"jax-{left}": f"jax-{kept}" for left, kept in _SAME_RANKS.items()
    },
    # One function computes the three, and an nDCG is a DCG over another.
    "tests/training/test_metrics.py::test_read_in_one_piece_by_torch_compile": {
        f"{name}-{fused}": f"ndcg-{fused}" for name in ("cg", "dcg") for fused in (False, True)
    },
}


def values_of(cases):
    """Return the values of each case, by its id: a form and how it is packed are two of them.

    A number that no two cases share is a seed, and none of them.
    """
    found = {}
    for case, name in cases.items():
        found[case] = set()
        for place, value in enumerate(name.split("-")):
            form, packing = _PACKED.fullmatch(value).groups()
            found[case] |= {(place, form), (place, packing)}
    shared = Counter(value for values in found.values() for value in values)
    return {
        case: {value for value in values if shared[value] > 1 or not value[1].isdecimal()}
        for case, values in found.items()
    }


def thinned(cases, one_in):
    """Return some of the cases, one in so many, in the order that they have.

    A case is its id with its values. Every value that a case has is in one that is kept; the others
    are drawn by their ids, so that they are the same everywhere.
    """
    drawn = sorted(cases, key=lambda case: zlib.crc32(case.encode()))
    kept, seen = set(), set()
    for case in drawn:
        if not seen.issuperset(cases[case]):
            kept.add(case)
            seen.update(cases[case])
    least = -(-len(cases) // one_in)
    for case in drawn:
        if len(kept) >= least:
            break
        kept.add(case)
    return [case for case in cases if case in kept]


def drawn(cases, one_in):
    """Return the ids of some cases, one in so many: the same everywhere, whatever their values."""
    order = sorted(cases, key=lambda case: zlib.crc32(case.encode()))
    return set(order[: -(-len(order) // one_in)])


def part_of(names, part):
    """Return the names of one part, such as "1/4": all parts together have each of them once."""
    number, parts = map(int, part.split("/"))
    if not 1 <= number <= parts:
        raise ValueError(f"{part!r} is none of the parts 1/{parts} to {parts}/{parts}")
    return {name for name in names if zlib.crc32(name.encode()) % parts == number - 1}
