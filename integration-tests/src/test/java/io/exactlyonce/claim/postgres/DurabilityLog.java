package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.postgres.SynchronousCommit;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Records the setting {@code synchronous_commit} of the transaction of each write of a claim, by a trigger. */
final class DurabilityLog {

    private DurabilityLog() {}

    /** Makes new sessions lose commits at a crash. */
    static void losesCommitsByDefault(JdbcTemplate database) {
        String name = database.queryForObject("SELECT current_database()", String.class);
        database.execute("ALTER DATABASE %s SET synchronous_commit = off".formatted(name));
    }

    /** Call this after the claim table exists. */
    static void install(JdbcTemplate database) {
        database.execute("CREATE TABLE durability (operation text, status text, synchronous_commit text)");
        database.execute("""
                CREATE FUNCTION note_durability() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    INSERT INTO durability VALUES (TG_OP, NEW.status, current_setting('synchronous_commit'));
                    RETURN NEW;
                END $$""");
        database.execute("CREATE TRIGGER note_durability AFTER INSERT OR UPDATE ON exactly_once_claim"
                + " FOR EACH ROW EXECUTE FUNCTION note_durability()");
    }

    /** Writes claims in every way, and returns the settings of their commits. */
    static List<String> ofEveryWrite(JdbcTemplate database, DataSource claims, SynchronousCommit configured) {
        database.execute("TRUNCATE durability");
        var store = new PostgresClaimStore(new ClaimTable(claims, TestDatabase.RETENTION, configured));
        ClaimRequest first = request(new ClaimKey("durable", UUID.randomUUID().toString()));
        store.claim(List.of(first));
        store.renew(List.of(new LeaseRenewal(first.id(), first.lease())));
        store.resolve(List.of(new ClaimResolution.Released(first.id(), "failed", false)));
        ClaimRequest second = request(first.key());
        store.claim(List.of(second));
        store.resolve(List.of(new ClaimResolution.Completed(second.id(), null)));
        ClaimRequest parked = request(new ClaimKey("durable", UUID.randomUUID().toString()));
        store.claim(List.of(parked));
        store.resolve(List.of(new ClaimResolution.Parked(parked.id(), "to be decided", false)));
        var parkedClaims = new PostgresParkedClaims(new ClaimTable(claims, TestDatabase.RETENTION, configured));
        assertThat(parkedClaims.release(parked.id())).isTrue();

        assertThat(database.queryForList("SELECT operation || ' ' || status FROM durability", String.class))
                .containsExactly(
                        "INSERT HELD",
                        "UPDATE HELD",
                        "UPDATE RELEASED",
                        "UPDATE HELD",
                        "UPDATE COMPLETED",
                        "INSERT HELD",
                        "UPDATE PARKED",
                        "UPDATE RELEASED");
        return database.queryForList("SELECT DISTINCT synchronous_commit FROM durability", String.class);
    }

    private static ClaimRequest request(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", Duration.ofMinutes(1));
    }
}
