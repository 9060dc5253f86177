package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;

/** Spring Boot's report of a failed startup: the first analysis of any registered analyzer. */
final class FailureReport {

    private FailureReport() {}

    /** Returns the report of an application whose startup fails. */
    static FailureAnalysis of(ApplicationContextRunner application) {
        AtomicReference<ConfigurableApplicationContext> started = new AtomicReference<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        application.withInitializer(started::set).run(context -> failure.set(context.getStartupFailure()));
        assertThat(failure.get()).isNotNull();
        return of(failure.get(), started.get());
    }

    static FailureAnalysis of(Throwable failure, ConfigurableApplicationContext context) {
        ArgumentResolver arguments = ArgumentResolver.of(BeanFactory.class, context.getBeanFactory())
                .and(Environment.class, context.getEnvironment());
        // Skips analyzers whose libraries are missing, as Boot does.
        return SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, arguments, (type, name, missing) -> {})
                .stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("Nothing explains this failure", failure));
    }
}
