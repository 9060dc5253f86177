package io.exactlyonce.boundary;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

@ExtendWith(OutputCaptureExtension.class)
class BoundaryTests {

    private final List<Throwable> crashes = new ArrayList<>();

    @Test
    void crashIsLoggedOnceAndHandedOn(CapturedOutput output) {
        Error crash = new OutOfMemoryError("used up");

        Boundary.guard(
                "poll of orders",
                () -> {
                    throw crash;
                },
                crashes::add);

        assertThat(crashes).containsExactly(crash);
        assertThat(output.getOut().split("poll of orders crashed", -1)).hasSize(2);
    }

    /** A converter's error may quote the message. The JVM's errors name classes and sizes. */
    @Test
    void textOfAnErrorThatTheJvmDoesNotThrowIsNotLogged(CapturedOutput output) {
        for (Error crash : List.of(
                new AssertionError("card 4711", new IllegalStateException("card 4712")),
                new OutOfMemoryError("Java heap space"),
                new NoClassDefFoundError("com/shop/Order"))) {
            Boundary.guard(
                    "Reading message",
                    () -> {
                        throw crash;
                    },
                    crashes::add);
        }

        assertThat(output)
                .contains("java.lang.AssertionError", "Java heap space", "com/shop/Order")
                .contains("textOfAnErrorThatTheJvmDoesNotThrow")
                .doesNotContain("card 471");
    }

    /** Trap: the log line said that deliveries were abandoned, so operators searched for lost messages. */
    @Test
    void periodicTaskThatCrashesRunsAgainAndAbandonsNothing(CapturedOutput output) {
        int before = Boundary.crashes();

        Boundary.guardPeriodic("retention-1", () -> {
            throw new OutOfMemoryError("used up");
        });

        assertThat(output)
                .contains("retention-1 failed; it runs again at its next interval")
                .doesNotContain("abandoned");
        assertThat(Boundary.crashes()).isEqualTo(before + 1);
    }

    /** Trap: no code read the future of this work, so a failure was not visible anywhere. */
    @Test
    void workThatNothingWaitsForIsLoggedIfItFails(CapturedOutput output) {
        int before = Boundary.crashes();

        Boundary.detach("Returning messages", CompletableFuture.completedFuture("done"));
        assertThat(output).doesNotContain("Returning messages");
        Boundary.detach("Returning messages", CompletableFuture.failedFuture(new IllegalStateException("unexpected")));

        assertThat(output)
                .containsOnlyOnce("Returning messages failed, and is not repeated")
                .contains("unexpected");
        assertThat(Boundary.crashes()).isEqualTo(before + 1);
    }

    /** Logging a crash may itself fail, because a log line needs memory and the crash's text may throw. */
    @Test
    void crashThatCannotBeLoggedIsHandedOnAndReportedLater(CapturedOutput output) {
        Error crash = new OutOfMemoryError("used up");
        Logger logger = (Logger) LoggerFactory.getLogger(Boundary.class);
        AppenderBase<ILoggingEvent> full = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                throw crash;
            }
        };
        full.start();
        // Crashes of other tests must not count here.
        Boundary.logUnlogged();
        int before = Boundary.crashes();

        logger.addAppender(full);
        Boundary.guard(
                "poll of orders",
                () -> {
                    throw crash;
                },
                crashes::add);
        logger.detachAppender(full);

        assertThat(crashes).containsExactly(crash);
        assertThat(Boundary.crashes()).isEqualTo(before + 1);
        assertThat(Boundary.sinceLastCrash()).isLessThan(Duration.ofMinutes(1));
        Boundary.logUnlogged();
        Boundary.logUnlogged();
        assertThat(output.getOut().split("1 crashes could not be logged", -1)).hasSize(2);
    }

    /**
     * A failed cleanup that is not repeated would lose the permits of its poll forever. A repeat may succeed, because
     * the crashed work no longer uses memory.
     */
    @Test
    void cleaningUpIsRepeatedUntilThereIsMemoryForIt() {
        AtomicInteger cleanups = new AtomicInteger();

        Boundary.guard(
                "poll of orders",
                () -> {
                    throw new OutOfMemoryError("used up");
                },
                crash -> {
                    if (cleanups.incrementAndGet() < 3) {
                        throw new OutOfMemoryError("still");
                    }
                });

        assertThat(cleanups).hasValue(3);
    }

    @Test
    void workThatEndsHandsNothingOn() {
        List<String> done = new ArrayList<>();

        Boundary.guard("tick", () -> done.add("work"), crashes::add);

        assertThat(done).containsExactly("work");
        assertThat(crashes).isEmpty();
    }
}
