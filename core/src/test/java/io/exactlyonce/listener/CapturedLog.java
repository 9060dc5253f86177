package io.exactlyonce.listener;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.OutputStreamAppender;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.LoggerFactory;

/**
 * Captures log lines as text: lines at WARN and above, and lines of our own classes at INFO and above. The console
 * prints none of these lines.
 */
public final class CapturedLog implements AutoCloseable {

    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final List<Appender<ILoggingEvent>> others = new ArrayList<>();
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private final OutputStreamAppender<ILoggingEvent> appender = new OutputStreamAppender<>();

    private final List<Logger> verbose = new ArrayList<>();

    /** Captures lines of the given classes at DEBUG and above, in addition to the other lines. */
    public CapturedLog(Class<?>... verbose) {
        this();
        for (Class<?> each : verbose) {
            Logger logger = (Logger) LoggerFactory.getLogger(each);
            logger.setLevel(Level.DEBUG);
            this.verbose.add(logger);
        }
    }

    CapturedLog() {
        root.iteratorForAppenders().forEachRemaining(others::add);
        others.forEach(root::detachAppender);
        LoggerContext context = root.getLoggerContext();
        var encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%level %logger{0} - %msg%n%ex");
        encoder.setCharset(StandardCharsets.UTF_8);
        encoder.start();
        appender.setContext(context);
        appender.setEncoder(encoder);
        appender.setOutputStream(written);
        appender.start();
        root.addAppender(appender);
        root.setLevel(Level.WARN);
    }

    public String text() {
        return written.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        verbose.forEach(logger -> logger.setLevel(null));
        root.detachAppender(appender);
        appender.stop();
        others.forEach(root::addAppender);
    }
}
