package io.exactlyonce.test.kit;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggerConfiguration;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/**
 * Removes all messages and claims before each test method. During a test, crashes, lost claims and failed handlers are
 * not logged, because the test requests them. If the test fails, its deliveries and their exceptions are logged. A
 * logger at DEBUG, or with a level that the application sets, keeps its level. In a test without a driver, no bean is
 * created.
 */
final class ResetDriverListener implements TestExecutionListener {

    private static final Logger log = LoggerFactory.getLogger(ResetDriverListener.class);

    private static final List<String> QUIET =
            List.of("io.awspring.cloud.sqs.listener.sink", "io.exactlyonce.delivery", "io.exactlyonce.renewal");

    private final LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());
    private final List<String> silenced = new ArrayList<>();

    @Override
    public void beforeTestMethod(TestContext test) {
        drivers(test).forEach(driver -> {
            driver.reset();
            QUIET.stream().filter(this::isOrdinary).forEach(name -> {
                logging.setLogLevel(name, LogLevel.OFF);
                silenced.add(name);
            });
        });
    }

    @Override
    public void afterTestMethod(TestContext test) {
        silenced.forEach(name -> logging.setLogLevel(name, null));
        silenced.clear();
        if (test.getTestException() != null) {
            drivers(test)
                    .flatMap(driver -> driver.deliveries().stream())
                    .forEach(delivered -> log.error(
                            "The test has failed. {}",
                            delivered,
                            delivered.failure().orElse(null)));
        }
    }

    private static Stream<ExactlyOnceDriver> drivers(TestContext test) {
        // This check uses the stream, because getIfAvailable() would create lazy factories of beans to find their
        // types.
        return test.hasApplicationContext()
                ? test.getApplicationContext().getBeanProvider(ExactlyOnceDriver.class, false).stream()
                : Stream.empty();
    }

    /** Returns whether the application sets no level for a logger, and the logger is not at DEBUG. */
    private boolean isOrdinary(String logger) {
        LoggerConfiguration known = logging.getLoggerConfiguration(logger);
        return known == null
                || (known.getConfiguredLevel() == null
                        && known.getEffectiveLevel().compareTo(LogLevel.INFO) >= 0);
    }
}
