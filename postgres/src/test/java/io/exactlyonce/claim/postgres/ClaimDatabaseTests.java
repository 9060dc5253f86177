package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.primary.ClaimPool;
import java.sql.Connection;
import java.sql.SQLException;
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

/** The check of a database that gives no connection: at once, or never. */
@Timeout(30)
@ExtendWith(OutputCaptureExtension.class)
class ClaimDatabaseTests {

    private interface Opening {
        Connection open() throws SQLException;
    }

    private static final Set<Thread.State> STANDING = Set.of(Thread.State.WAITING, Thread.State.BLOCKED);

    private final CountDownLatch asked = new CountDownLatch(1);
    private final AtomicBoolean brokenOff = new AtomicBoolean();
    private final AtomicInteger tries = new AtomicInteger();

    @Test
    void closingBreaksTheCheckOff() throws Exception {
        ClaimDatabase silent = database(() -> {
            asked.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException closed) {
                brokenOff.set(true);
            }
            throw new SQLException("broken off");
        });
        silent.beginCheck();
        asked.await();

        silent.close();

        assertThat(brokenOff).isTrue();
        assertThat(silent.isReady()).isFalse();
        assertThatThrownBy(silent::requireReady)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void checkThatFailedIsMadeAgainForCallersThatFollow() {
        ClaimDatabase down = database(() -> {
            throw new SQLException("try " + tries.incrementAndGet());
        });

        assertThatThrownBy(down::requireReady)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageContaining("try 1");
        assertThatThrownBy(down::requireReady)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageContaining("try 2");
        assertThat(down.isReady()).isFalse();
    }

    @Test
    void interruptEndsTheWaitAndLeavesTheCheckToOtherCallers() throws Exception {
        CountDownLatch away = new CountDownLatch(1);
        ClaimDatabase silent = database(() -> {
            int number = tries.incrementAndGet();
            asked.countDown();
            try {
                away.await();
            } catch (InterruptedException closed) {
                brokenOff.set(true);
            }
            throw new SQLException("try " + number);
        });
        silent.beginCheck();
        asked.await();
        FutureTask<Throwable> other = new FutureTask<>(() -> catchThrowable(silent::requireReady));
        Thread caller = new Thread(other);
        caller.start();
        await().until(() -> STANDING.contains(caller.getState()));
        Thread.currentThread().interrupt();

        assertThatThrownBy(silent::requireReady)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Interrupted");

        assertThat(Thread.interrupted()).as("interrupt restored").isTrue();
        away.countDown();
        assertThat(other.get()).hasMessageContaining("try 1");
        assertThat(brokenOff).isFalse();
    }

    @Test
    void databaseThatIsClosedIsNotAskedAnyMore() {
        ClaimDatabase closed = database(() -> {
            throw new SQLException("try " + tries.incrementAndGet());
        });
        closed.close();

        closed.beginCheck();

        assertThatThrownBy(closed::requireReady)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThat(tries).hasValue(0);
    }

    /** A health probe waits for no check, and begins none. */
    @Test
    void probeBesideACheckHasAnAnswerOfItsOwn() throws Exception {
        CountDownLatch away = new CountDownLatch(1);
        ClaimDatabase silent = database(() -> {
            int number = tries.incrementAndGet();
            asked.countDown();
            try {
                if (number == 1) {
                    away.await();
                }
            } catch (InterruptedException closed) {
                brokenOff.set(true);
            }
            throw new SQLException("try " + number);
        });
        silent.beginCheck();
        asked.await();

        assertThatThrownBy(silent::prove)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageContaining("try 2");

        assertThat(tries).hasValue(2);
        assertThat(silent.isReady()).isFalse();
        silent.close();
    }

    /** As where listeners do not start with the application. */
    @Test
    void checkThatFailsWhileNothingAwaitsItIsLoggedAtOnce(CapturedOutput output) {
        ClaimDatabase down = database(() -> {
            throw new SQLException("no route to host");
        });

        down.beginCheck();

        await().until(() -> output.getOut().contains("No listener can start: No connection to"));
        assertThat(output).contains("no route to host");
    }

    @Test
    void checkThatFailsWhileAListenerAwaitsItIsTheListenersToTell(CapturedOutput output) {
        ClaimDatabase down = database(() -> {
            throw new SQLException("no route to host");
        });

        assertThatThrownBy(down::requireReady).hasMessageContaining("no route to host");

        assertThat(output).doesNotContain("No listener can start");
    }

    /** As requests of a web application do while its database is away: each waits for what is left of one check. */
    @Test
    void callsThatComeDuringACheckGetItsFailureAndMakeNoneOfTheirOwn() throws Exception {
        CountDownLatch away = new CountDownLatch(1);
        ClaimDatabase silent = database(() -> {
            int number = tries.incrementAndGet();
            try {
                away.await();
            } catch (InterruptedException closed) {
                brokenOff.set(true);
            }
            throw new SQLException("try " + number);
        });
        List<FutureTask<Throwable>> calls = Stream.generate(
                        () -> new FutureTask<>(() -> catchThrowable(silent::requireReady)))
                .limit(5)
                .toList();
        List<Thread> callers = calls.stream().map(Thread::new).toList();
        callers.forEach(Thread::start);
        await().until(() -> callers.stream().map(Thread::getState).allMatch(STANDING::contains));
        away.countDown();

        for (FutureTask<Throwable> call : calls) {
            assertThat(call.get()).isInstanceOf(ClaimDatabaseException.class).hasMessageContaining("try 1");
        }
        assertThat(tries).hasValue(1);
        assertThatThrownBy(silent::requireReady).hasMessageContaining("try 2");
    }

    private static ClaimDatabase database(Opening connections) {
        var claims = ClaimPool.around(
                new AbstractDataSource() {
                    @Override
                    public Connection getConnection() throws SQLException {
                        return connections.open();
                    }

                    @Override
                    public Connection getConnection(String username, String password) throws SQLException {
                        return connections.open();
                    }
                },
                2);
        return new ClaimDatabase(claims, DatabaseInitializationMode.NEVER, () -> {});
    }
}
