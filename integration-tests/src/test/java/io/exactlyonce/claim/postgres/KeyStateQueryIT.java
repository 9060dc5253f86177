package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.testing.RoundTrips;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Lookups of keys that transactions hold by an advisory lock, and the check of the server that answers. */
class KeyStateQueryIT {

    private static final TestDatabase DATABASE = new TestDatabase(4);

    private final PostgresClaimStore store = DATABASE.store();
    private final ClaimRequest claim = request();
    private Connection other;

    @BeforeEach
    void open() throws SQLException {
        other = DATABASE.newConnection();
        other.setAutoCommit(false);
    }

    @AfterEach
    void closeConnection() throws SQLException {
        other.close();
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    private KeyState look() {
        return store.peek(List.of(claim.key())).get(claim.key());
    }

    private JdbcTemplate other() {
        return new JdbcTemplate(new SingleConnectionDataSource(other, true));
    }

    /** Runs in the transaction of the other connection, which continues after the lookup. */
    private Map<ClaimKey, KeyState> lookWithin(List<ClaimKey> keys) {
        return TestDatabase.store(new SingleConnectionDataSource(other, true)).peek(keys);
    }

    private boolean tryLock(String function) {
        return other().queryForObject("SELECT %s(?)".formatted(function), Boolean.class, DATABASE.lockOf(claim.key()));
    }

    @Test
    void keyThatATransactionHasLockedIsHeldUntilItsCommit() throws SQLException {
        assertThat(tryLock("pg_try_advisory_xact_lock")).isTrue();
        assertThat(look()).isEqualTo(KeyState.HELD);
        TestDatabase.insert(other(), claim.id());
        other().update("UPDATE exactly_once_claim SET status = 'COMPLETED' WHERE claim_id = ?", claim.claimId());
        assertThat(look()).isEqualTo(KeyState.HELD);

        other.commit();

        assertThat(look()).isEqualTo(KeyState.completed(null));
    }

    @Test
    void lockedKeyIsHeldAlsoWhenAnEarlierClaimsRowIsFree() {
        store.claim(List.of(claim));
        store.resolve(List.of(new ClaimResolution.Released(claim.id(), "failed", false)));

        assertThat(tryLock("pg_try_advisory_xact_lock")).isTrue();

        assertThat(look()).isEqualTo(KeyState.HELD);
    }

    @Test
    void twoLookupsDoNotSeeEachOther() {
        assertThat(tryLock("pg_try_advisory_xact_lock_shared")).isTrue();

        assertThat(look()).isEqualTo(KeyState.FREE);
    }

    @Test
    void lockIsReleasedWithTheLookup() {
        look();

        assertThat(tryLock("pg_try_advisory_xact_lock")).isTrue();
    }

    @Test
    void lockOfKeysWithoutARowOnlyIsTried() {
        store.claim(List.of(claim));
        Map<ClaimKey, KeyState> seen = lookWithin(List.of(claim.key()));
        assertThat(seen).containsEntry(claim.key(), KeyState.HELD);

        assertThat(DATABASE.jdbc()
                        .queryForObject("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", Integer.class))
                .isZero();
    }

    @Test
    void keyWhoseLeaseIsOverIsFree() {
        store.claim(List.of(claim));
        assertThat(look()).isEqualTo(KeyState.HELD);

        DATABASE.endLease(claim.id());

        assertThat(look()).isEqualTo(KeyState.FREE);
    }

    /** The former owner has fenced a transaction, so no claim can take the key over. */
    @Test
    void freeKeyWhoseRowIsLockedIsHeld() {
        store.claim(List.of(claim));
        DATABASE.endLease(claim.id());
        other().queryForList("SELECT 1 FROM exactly_once_claim WHERE claim_id = ? FOR KEY SHARE", claim.claimId());

        assertThat(look()).isEqualTo(KeyState.HELD);
    }

    @Test
    void parkedKeyIsParked() {
        store.claim(List.of(claim));
        DATABASE.jdbc().update("UPDATE exactly_once_claim SET status = 'PARKED' WHERE claim_id = ?", claim.claimId());

        assertThat(look()).isEqualTo(KeyState.PARKED);
    }

    /** Trap: one statement took thousands of advisory locks, but all applications of a server share a small number. */
    @Test
    void manyKeysAreLookedUpInPortions() {
        List<ClaimKey> keys = IntStream.range(0, 1_001)
                .mapToObj(number -> new ClaimKey("orders", "many-" + number))
                .toList();
        look();

        try (RoundTrips trips = RoundTrips.count()) {
            assertThat(store.peek(keys)).hasSize(1_001).containsValue(KeyState.FREE);
            assertThat(trips.total()).isEqualTo(3);
        }
    }

    /** A replica or a demoted server lacks the latest claims. */
    @Test
    void serverThatTakesNoWritesRefusesTheLookup() {
        DataSource readOnly = new DelegatingDataSource(DATABASE.pool()) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                try (Statement statement = connection.createStatement()) {
                    statement.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
                }
                return connection;
            }
        };

        assertThatThrownBy(() -> TestDatabase.store(readOnly).peek(List.of(claim.key())))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasRootCauseInstanceOf(SQLException.class)
                .rootCause()
                .extracting(cause -> ((SQLException) cause).getSQLState())
                .isEqualTo("25006");
    }

    @Test
    void lookupWritesNothing() {
        store.claim(List.of(claim));
        Map<String, Object> before = DATABASE.row(claim.key());

        lookWithin(List.of(claim.key(), request().key()));

        assertThat(DATABASE.row(claim.key())).isEqualTo(before);
        assertThat(other().queryForObject("SELECT pg_current_xact_id_if_assigned() IS NULL", Boolean.class))
                .isTrue();
    }
}
