package io.exactlyonce.test.fuzz;

import java.util.Objects;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;

/** Spring Boot's report of a failed startup: the first analysis of any registered analyzer. */
public final class FailureReport {

    private FailureReport() {}

    /**
     * Returns the text of the report.
     *
     * @param failure the failure of the startup
     * @param context the context that failed to start
     */
    public static FailureAnalysis of(Throwable failure, ConfigurableApplicationContext context) {
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
