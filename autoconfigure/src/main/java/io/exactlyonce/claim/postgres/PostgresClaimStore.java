package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimState;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.Completion;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.Parking;
import io.exactlyonce.claim.Release;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Claims as rows of the table {@code exactly_once_claim}. Each call is one short transaction of its own, never part of
 * the caller's, and takes effect for all of its entries or, if it throws, for none that it tells about.
 *
 * <p>Guaranteed: what {@link ClaimStore} guarantees, by the database's clock, for as long as a key's row exists and
 * the DataSource leads to one primary. Renewals never wait for a connection behind claims, completions and releases.
 *
 * <p>Not guaranteed: anything across a failover that loses commits (an asynchronous replica), or when the database's
 * clock is set back. A batch with one entry that PostgreSQL cannot store (NUL in a text) fails as a whole.
 */
public final class PostgresClaimStore implements ClaimStore {

    /** As long as the pool itself waits for a connection. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final ConnectionPermits permits;
    private final RetryingTransaction transaction;
    private final ClaimDecision claims;
    private final Renewals renewals;
    private final Completions completions;
    private final Releases releases;
    private final Parkings parkings;
    private final KeyStates states;

    /**
     * @param dataSource reaches only the primary, with READ COMMITTED as its connections' isolation level
     * @param connections most connections that the DataSource gives at any time, at least 2: one is left to renewals
     * @param retention how long a key's row is kept, counted from its last claim, or from its completion if that is later
     */
    public PostgresClaimStore(DataSource dataSource, int connections, Duration retention) {
        var jdbc = new JdbcTemplate(dataSource);
        this.permits = new ConnectionPermits(connections, PATIENCE);
        this.transaction = new RetryingTransaction(dataSource);
        this.renewals = new Renewals(jdbc);
        this.parkings = new Parkings(jdbc);
        this.claims = new ClaimDecision(
                new FirstClaims(jdbc, retention),
                new ClaimRows(jdbc),
                new Takeovers(jdbc, retention),
                parkings,
                renewals);
        this.completions = new Completions(jdbc);
        this.releases = new Releases(jdbc);
        this.states = new KeyStates(jdbc);
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        return permits.execute(() -> transaction.execute(() -> claims.decide(requests)));
    }

    @Override
    public Set<ClaimId> renew(List<LeaseRenewal> leases) {
        return transaction.execute(() -> renewals.renew(leases));
    }

    @Override
    public Set<ClaimId> complete(List<Completion> ends) {
        try {
            return permits.execute(() -> transaction.execute(() -> completions.complete(ends)));
        } catch (DataIntegrityViolationException unstorable) {
            throw new IllegalArgumentException("PostgreSQL cannot store one of these results", unstorable);
        }
    }

    @Override
    public Set<ClaimId> release(List<Release> ends) {
        return permits.execute(() -> transaction.execute(() -> releases.release(ends)));
    }

    @Override
    public Set<ClaimId> park(List<Parking> ends) {
        return permits.execute(() -> transaction.execute(() -> parkings.park(ends)));
    }

    @Override
    public Map<ClaimKey, ClaimState> look(Collection<ClaimKey> keys) {
        return permits.execute(() -> transaction.execute(() -> states.read(List.copyOf(keys))));
    }
}
