package io.exactlyonce.autoconfigure;

import io.exactlyonce.claim.postgres.schema.ClaimSchemaException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a {@link ClaimSchemaException}. */
final class ClaimSchemaFailureAnalyzer extends AbstractFailureAnalyzer<ClaimSchemaException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ClaimSchemaException failure) {
        return new FailureAnalysis(failure.problem(), failure.remedy(), failure);
    }
}
