package io.exactlyonce.autoconfigure;

import io.exactlyonce.listener.method.InvalidListenerException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a {@link InvalidListenerException}. */
final class InvalidListenerFailureAnalyzer extends AbstractFailureAnalyzer<InvalidListenerException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidListenerException failure) {
        return new FailureAnalysis(failure.problem(), failure.remedy(), failure);
    }
}
