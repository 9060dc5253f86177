package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimRequest;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Ends claims and makes first claims, and reads the rows of the keys that somebody has claimed before: all in one
 * statement, which is its own transaction. Reading in the statement that writes keeps to the primary, also where a proxy
 * sends reads elsewhere.
 *
 * <p>It has no part that has nothing to do, and answers with two counts and what did not go as usual: most of the time
 * there is nothing of that kind.
 */
final class BatchStatement {

    static final String ENDS = "WITH " + EndsPart.EXPRESSIONS + EndsPart.ANSWER;

    static final String CLAIMS = "WITH " + ClaimsPart.EXPRESSIONS + ClaimsPart.ANSWER;

    static final String BOTH = "WITH " + EndsPart.EXPRESSIONS + ", " + ClaimsPart.EXPRESSIONS + EndsPart.ANSWER
            + "UNION ALL\n" + ClaimsPart.ANSWER;

    private final OneRoundTrip ending;
    private final OneRoundTrip claiming;
    private final OneRoundTrip both;
    private final Duration retention;

    BatchStatement(JdbcTemplate jdbc, StatementSettings settings, Duration retention) {
        String before = settings.lookUpRowsAndWaitBriefly();
        this.ending = new OneRoundTrip(jdbc, before, ENDS);
        this.claiming = new OneRoundTrip(jdbc, before, CLAIMS);
        this.both = new OneRoundTrip(jdbc, before, BOTH);
        this.retention = retention;
    }

    /**
     * Both lists come in key order, with no key and no claim's id twice in them, and not both are empty.
     *
     * @return what became of them
     */
    BatchAnswer run(List<ClaimEnd> ends, List<ClaimRequest> claims) {
        BatchReply reply = new BatchReply(ends, claims);
        if (claims.isEmpty()) {
            ending.query(parameters -> EndsPart.bind(parameters, 1, ends), reply::read);
        } else if (ends.isEmpty()) {
            claiming.query(parameters -> ClaimsPart.bind(parameters, 1, claims, retention), reply::read);
        } else {
            both.query(parameters -> bind(parameters, ends, claims), reply::read);
        }
        return reply.answer();
    }

    private void bind(PreparedStatement parameters, List<ClaimEnd> ends, List<ClaimRequest> claims)
            throws SQLException {
        EndsPart.bind(parameters, 1, ends);
        ClaimsPart.bind(parameters, 1 + EndsPart.PARAMETERS, claims, retention);
    }
}
