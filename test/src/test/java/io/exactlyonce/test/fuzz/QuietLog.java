package io.exactlyonce.test.fuzz;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/**
 * Replaces the console as the target of the log, and keeps only forbidden texts: payloads, and characters that begin
 * lines or move cursors. Spring Cloud AWS logs the exceptions of handlers as they are; these log lines are not checked.
 */
public final class QuietLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private static final String PAYLOAD = HostileText.SECRET + "|" + HostileText.FORGED;
    private static final Pattern IN_FAILURE = Pattern.compile(PAYLOAD);
    private static final Pattern IN_LINE =
            Pattern.compile(PAYLOAD + "|[\\p{Cc}\\p{Zl}\\p{Zp}\\p{Cs}\\x{202A}-\\x{202E}\\x{2066}-\\x{2069}]");

    private static final String OURS = "io.exactlyonce.";

    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final List<Appender<ILoggingEvent>> others = new ArrayList<>();
    private final Queue<String> leaks = new ConcurrentLinkedQueue<>();
    private final Class<?> handlersOwn;

    /** @param handlersOwn the class of exceptions with which handlers quote payloads */
    public QuietLog(Class<? extends Throwable> handlersOwn) {
        this.handlersOwn = handlersOwn;
        root.iteratorForAppenders().forEachRemaining(others::add);
        others.forEach(root::detachAppender);
        setContext(root.getLoggerContext());
        start();
        root.addAppender(this);
    }

    /** Returns the forbidden texts since the previous call of this method. */
    public List<String> leaks() {
        List<String> all = new ArrayList<>();
        for (String leak = leaks.poll(); leak != null; leak = leaks.poll()) {
            all.add(leak);
        }
        return all;
    }

    @Override
    protected void append(ILoggingEvent event) {
        find(IN_LINE, event.getFormattedMessage()).ifPresent(leak -> leaks.add(event.getLoggerName() + ": " + leak));
        if (event.getLoggerName().startsWith(OURS) || !isHandlersOwn(event.getThrowableProxy())) {
            for (IThrowableProxy thrown = event.getThrowableProxy(); thrown != null; thrown = thrown.getCause()) {
                String type = thrown.getClassName();
                find(IN_FAILURE, String.valueOf(thrown.getMessage()))
                        .ifPresent(leak -> leaks.add("%s, %s: %s".formatted(event.getLoggerName(), type, leak)));
            }
        }
    }

    private boolean isHandlersOwn(IThrowableProxy event) {
        for (IThrowableProxy thrown = event; thrown != null; thrown = thrown.getCause()) {
            if (thrown.getClassName().equals(handlersOwn.getName())) {
                return true;
            }
        }
        return false;
    }

    private static Optional<String> find(Pattern pattern, String text) {
        Matcher leak = pattern.matcher(text);
        return leak.find()
                ? Optional.of(HostileText.shown(text.substring(Math.max(0, leak.start() - 40))))
                : Optional.empty();
    }

    @Override
    public void close() {
        root.detachAppender(this);
        stop();
        others.forEach(root::addAppender);
    }
}
