"""The kinds of background work that judges and pipelines bring."""

from evaluation.extension import JobKind

QUERIES = JobKind(
    key="queries",
    noun="import of queries",
    title="Importing queries",
    work="judging.services.generation.background.import_queries_of",
    tab="generation",
    upload_form="generation_queries",
)
PRODUCTS = JobKind(
    key="products",
    noun="import of products",
    title="Importing products",
    work="judging.services.generation.background.import_products_of",
    tab="generation",
    upload_form="generation_import",
)
MAKING = JobKind(
    key="making",
    noun="study of products",
    title="Making a study",
    work="judging.services.generation.background.make_study_of",
    tab="generation",
    makes_study=True,
    participle="made",
)
CORPUS = JobKind(
    key="corpus",
    noun="upload of a corpus",
    title="Uploading a corpus",
    work="judging.services.generation.background.add_corpus_of",
    tab="generation",
    upload_form="generation_corpora",
)
# Those that the Generation pages begin and show.
GENERATION = (QUERIES, PRODUCTS, MAKING, CORPUS)
CONNECTION_TEST = JobKind(
    key="connection_test",
    noun="test of a connection",
    title="Testing a connection",
    work="judging.services.endpoints.connection_test.run_test",
    participle="",
    killed="The worker stopped before the test was done.",
    listed=False,
)
STEPS = JobKind(
    key="steps",
    noun="writing of evaluation steps",
    title="Writing evaluation steps",
    work="judging.services.evaluation_steps.write_steps_of",
    tab="judges",
    participle="",
    killed="The worker stopped before the steps were written.",
    listed=False,
)
VALIDATION = JobKind(
    key="validation",
    noun="comparison of a judge with people",
    title="Comparing a judge with people",
    work="judging.services.validation.compute_of",
    tab="trust",
    participle="",
    killed="The worker stopped before the judge was compared.",
    listed=False,
)
