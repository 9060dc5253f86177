package io.exactlyonce.property;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/** Explains an {@link InvalidPropertyException}; before Spring Boot's own analyzer, which knows no remedy for it. */
@Order(0)
final class InvalidPropertyFailureAnalyzer extends AbstractFailureAnalyzer<InvalidPropertyException> {

    private final Environment environment;

    InvalidPropertyFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidPropertyException failure) {
        return new FailureAnalysis(
                WrittenProperty.line(failure.problem() + WrittenProperty.origin(environment, failure.property())),
                failure.remedy(),
                failure);
    }
}
