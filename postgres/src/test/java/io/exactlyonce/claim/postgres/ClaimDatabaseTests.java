package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.primary.ClaimPool;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** Tests the check of a database that refuses connections at once, or never answers. */
@Timeout(30)
@ExtendWith(OutputCaptureExtension.class)
class ClaimDatabaseTests {

    private static final Set<Thread.State> STANDING = Set.of(Thread.State.WAITING, Thread.State.BLOCKED);

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch away = new CountDownLatch(1);
    private final AtomicBoolean brokenOff = new AtomicBoolean();
    private final AtomicInteger tries = new AtomicInteger();

    /** A database that refuses connections. Only the first caller waits, until {@link #away} reaches zero. */
    private final ClaimDatabase silent = database(true);

    /** A database that refuses connections at once. */
    private final ClaimDatabase down = database(false);

    private Connection refuse(boolean waits) throws SQLException {
        int number = tries.incrementAndGet();
        asked.countDown();
        try {
            if (waits && number == 1) {
                away.await();
            }
        } catch (InterruptedException closed) {
            brokenOff.set(true);
        }
        throw new SQLException("no route to host, try " + number);
    }

    private void beginCheck() throws InterruptedException {
        silent.beginCheck();
        asked.await();
    }

    /** Calls {@code requireReady} on a separate thread, and returns when that thread waits. */
    private FutureTask<Throwable> requireLater() {
        FutureTask<Throwable> call = new FutureTask<>(() -> catchThrowable(silent::requireReady));
        Thread caller = new Thread(call);
        caller.start();
        await().until(() -> STANDING.contains(caller.getState()));
        return call;
    }

    @Test
    void closingBreaksTheCheckOffAndMakesNoOther() throws Exception {
        beginCheck();

        silent.close();
        silent.beginCheck();

        assertThat(brokenOff).isTrue();
        assertThat(silent.isReady()).isFalse();
        assertThatThrownBy(silent::requireReady)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThat(tries).hasValue(1);
    }

    /** A listener awaits the check, so the listener reports the failure. */
    @Test
    void checkThatFailedIsMadeAgainForCallersThatFollow(CapturedOutput output) {
        assertThatThrownBy(down::requireReady)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageContaining("try 1");
        assertThatThrownBy(down::requireReady)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageContaining("try 2");

        assertThat(down.isReady()).isFalse();
        assertThat(output).doesNotContain("No listener can start");
    }

    @Test
    void interruptEndsTheWaitAndLeavesTheCheckToOtherCallers() throws Exception {
        beginCheck();
        FutureTask<Throwable> other = requireLater();
        Thread.currentThread().interrupt();

        assertThatThrownBy(silent::requireReady)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Interrupted");

        assertThat(Thread.interrupted()).as("interrupt restored").isTrue();
        away.countDown();
        assertThat(other.get()).hasMessageContaining("try 1");
        assertThat(brokenOff).isFalse();
    }

    /** A health probe does not wait for a check, and does not start one. */
    @Test
    void probeBesideACheckHasAnAnswerOfItsOwn() throws Exception {
        beginCheck();

        assertThatThrownBy(silent::prove)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageContaining("try 2");

        assertThat(tries).hasValue(2);
        assertThat(silent.isReady()).isFalse();
        silent.close();
    }

    /** In this test, no listener starts with the application. */
    @Test
    void checkThatFailsWhileNothingAwaitsItIsLoggedAtOnce(CapturedOutput output) {
        down.beginCheck();

        await().until(() -> output.getOut().contains("No listener can start: No connection to"));
        assertThat(output).contains("no route to host");
    }

    /** Web requests arrive while the database is unavailable. Each request waits for the rest of the same check. */
    @Test
    void callsThatComeDuringACheckGetItsFailureAndMakeNoneOfTheirOwn() throws Exception {
        List<FutureTask<Throwable>> calls =
                Stream.generate(this::requireLater).limit(5).toList();
        away.countDown();

        for (FutureTask<Throwable> call : calls) {
            assertThat(call.get()).isInstanceOf(ClaimDatabaseException.class).hasMessageContaining("try 1");
        }
        assertThat(tries).hasValue(1);
        assertThatThrownBy(silent::requireReady).hasMessageContaining("try 2");
    }

    private ClaimDatabase database(boolean waits) {
        var claims = ClaimPool.around(
                new AbstractDataSource() {
                    @Override
                    public Connection getConnection() throws SQLException {
                        return refuse(waits);
                    }

                    @Override
                    public Connection getConnection(String username, String password) throws SQLException {
                        return refuse(waits);
                    }
                },
                2);
        return new ClaimDatabase(
                claims,
                new ClaimTable(claims.dataSource(), Duration.ofDays(1), SynchronousCommit.ON),
                DatabaseInitializationMode.NEVER,
                () -> {});
    }
}
