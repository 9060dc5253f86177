package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.jdbc.SingleRoundTripQuery;
import io.exactlyonce.claim.postgres.jdbc.StatementSettings;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Ends claims and makes first claims, and reads the rows of the keys that were claimed before: all in one
 * statement, which is its own transaction. Reading in the statement that writes keeps to the primary, also where a proxy
 * sends reads elsewhere.
 *
 * <p>It has no part that has nothing to do, and answers with two counts and what did not go as usual: most of the time
 * there is nothing of that kind.
 */
final class BatchStatement {

    static final String ENDS = "WITH " + EndClaimsSql.EXPRESSIONS + EndClaimsSql.ANSWER;

    static final String CLAIMS = "WITH " + FirstClaimsSql.EXPRESSIONS + FirstClaimsSql.ANSWER;

    static final String BOTH = "WITH " + EndClaimsSql.EXPRESSIONS + ", " + FirstClaimsSql.EXPRESSIONS
            + EndClaimsSql.ANSWER + "UNION ALL\n" + FirstClaimsSql.ANSWER;

    private final SingleRoundTripQuery ending;
    private final SingleRoundTripQuery claiming;
    private final SingleRoundTripQuery both;
    private final Duration retention;

    BatchStatement(JdbcTemplate jdbc, StatementSettings settings, Duration retention) {
        String before = settings.lookUpRowsAndWaitBriefly();
        this.ending = SingleRoundTripQuery.transaction(jdbc, before, ENDS);
        this.claiming = SingleRoundTripQuery.transaction(jdbc, before, CLAIMS);
        this.both = SingleRoundTripQuery.transaction(jdbc, before, BOTH);
        this.retention = retention;
    }

    /**
     * Both lists come in key order, with no key and no claim's id twice in them, and not both are empty.
     *
     * @return what became of them
     */
    BatchReply run(List<ClaimEnd> ends, List<ClaimRequest> claims) {
        BatchReply reply = new BatchReply(ends, claims);
        if (claims.isEmpty()) {
            ending.query(parameters -> EndClaimsSql.bind(parameters, 1, ends), reply::read);
        } else if (ends.isEmpty()) {
            claiming.query(parameters -> FirstClaimsSql.bind(parameters, 1, claims, retention), reply::read);
        } else {
            both.query(parameters -> bind(parameters, ends, claims), reply::read);
        }
        return reply.complete();
    }

    private void bind(PreparedStatement parameters, List<ClaimEnd> ends, List<ClaimRequest> claims)
            throws SQLException {
        EndClaimsSql.bind(parameters, 1, ends);
        FirstClaimsSql.bind(parameters, 1 + EndClaimsSql.PARAMETERS, claims, retention);
    }
}
