package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.primary.PrimaryUnavailableException;
import io.exactlyonce.primary.ReplicaLagMonitor;
import io.exactlyonce.primary.SynchronousCommit;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** The check of a database that gives no connection: at once, or never. */
@Timeout(30)
class ClaimDatabaseTests {

    private interface Opening {
        Connection open() throws SQLException;
    }

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
        assertThatThrownBy(silent::awaitCheck)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void checkThatFailedIsNotMadeAgainForListenersButForOperations() {
        ClaimDatabase down = database(() -> {
            throw new SQLException("try " + tries.incrementAndGet());
        });

        assertThatThrownBy(down::awaitCheck)
                .isInstanceOf(PrimaryUnavailableException.class)
                .hasMessageContaining("try 1");
        assertThatThrownBy(down::awaitCheck)
                .isInstanceOf(PrimaryUnavailableException.class)
                .hasMessageContaining("try 1");
        assertThatThrownBy(down::requireReady)
                .isInstanceOf(PrimaryUnavailableException.class)
                .hasMessageContaining("try 2");
    }

    private static ClaimDatabase database(Opening connections) {
        var claims = PrimaryPinnedDataSource.around(
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
                2,
                SynchronousCommit.ON);
        return new ClaimDatabase(
                claims, DatabaseInitializationMode.NEVER, new ReplicaLagMonitor(claims, Duration.ZERO, replicas -> {}));
    }
}
