package io.exactlyonce.chaos.worker;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.servers.LocalPostgres;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Profile;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The application's reads from a replica, which may lag by seconds or be unavailable. The application looks for a row
 * that it has just written, as the team of the second incident did. Nothing may depend on the answer.
 */
@Component
@Profile("postgresql")
class ReplicaReads {

    private static final Logger log = LoggerFactory.getLogger(ReplicaReads.class);
    private static final long PATIENCE_MILLIS = 250;

    private final JdbcClient replica;
    private final AtomicLong failures = new AtomicLong();

    ReplicaReads(WorkerProperties properties) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("replica");
        config.setJdbcUrl("jdbc:postgresql://127.0.0.1:%d/chaos?connectTimeout=1&socketTimeout=1"
                .formatted(properties.replica()));
        config.setUsername("postgres");
        config.setPassword(LocalPostgres.password());
        config.setMaximumPoolSize(2);
        config.setConnectionTimeout(PATIENCE_MILLIS);
        config.setInitializationFailTimeout(-1);
        config.setReadOnly(true);
        this.replica = JdbcClient.create(new HikariDataSource(config));
    }

    /** Returns whether the replica has a booking. Also returns {@code false} if the replica does not answer. */
    boolean isBooked(String key) {
        try {
            return replica.sql("SELECT count(*) FROM booking WHERE key = ?")
                            .param(key)
                            .query(Long.class)
                            .single()
                    > 0;
        } catch (DataAccessException away) {
            if (failures.incrementAndGet() == 1) {
                log.info("The replica does not answer: {}", away.getMessage());
            }
            return false;
        }
    }
}
