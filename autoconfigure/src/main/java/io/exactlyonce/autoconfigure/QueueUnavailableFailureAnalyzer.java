package io.exactlyonce.autoconfigure;

import io.exactlyonce.listener.container.QueueUnavailableException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a {@link QueueUnavailableException}. */
final class QueueUnavailableFailureAnalyzer extends AbstractFailureAnalyzer<QueueUnavailableException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, QueueUnavailableException failure) {
        return new FailureAnalysis(failure.getMessage(), failure.remedy(), failure);
    }
}
