package io.exactlyonce.autoconfigure;

import io.exactlyonce.ExactlyOnceSetupException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains an {@link ExactlyOnceSetupException}. */
final class ExactlyOnceFailureAnalyzer extends AbstractFailureAnalyzer<ExactlyOnceSetupException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ExactlyOnceSetupException failure) {
        return new FailureAnalysis(failure.problem(), failure.remedy(), failure);
    }
}
