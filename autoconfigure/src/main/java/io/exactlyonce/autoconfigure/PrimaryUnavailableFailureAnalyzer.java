package io.exactlyonce.autoconfigure;

import io.exactlyonce.primary.PrimaryUnavailableException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a {@link PrimaryUnavailableException}. */
final class PrimaryUnavailableFailureAnalyzer extends AbstractFailureAnalyzer<PrimaryUnavailableException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, PrimaryUnavailableException failure) {
        return new FailureAnalysis(failure.problem(), failure.remedy(), failure);
    }
}
