package io.exactlyonce.autoconfigure;

import io.exactlyonce.claim.postgres.ClaimTableMissingException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a {@link ClaimTableMissingException}. */
final class ClaimTableMissingFailureAnalyzer extends AbstractFailureAnalyzer<ClaimTableMissingException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ClaimTableMissingException failure) {
        return new FailureAnalysis(failure.problem(), failure.remedy(), failure);
    }
}
