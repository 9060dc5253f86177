package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.Recorder;
import io.exactlyonce.chaos.queue.Keys;
import io.exactlyonce.chaos.queue.Queues;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Records what is left of each key when all is done: in the claims' table, the table of bookings, the dead-letter queues. */
final class FinalStateRecorder {

    private static final String CLAIMS =
            "SELECT key, status, coalesce(error, 'parked') AS reason FROM exactly_once_claim";
    private static final String BOOKINGS = "SELECT key, call FROM booking ORDER BY id";

    private final Recorder recorder;

    FinalStateRecorder(Recorder recorder) {
        this.recorder = recorder;
    }

    void record(Queues queues, DataSource database) {
        JdbcTemplate template = new JdbcTemplate(database);
        Set<String> parked = new HashSet<>();
        template.query(CLAIMS, row -> {
            recordClaim(row, parked);
        });
        template.query(BOOKINGS, row -> {
            recorder.record(Event.of(Kind.ROW).on(row.getString("key")).in(row.getString("call")));
        });
        queues.takeDeadLetters()
                .forEach(body -> recorder.record(Event.of(Kind.DEAD_LETTERED)
                        .on(Keys.of(body))
                        .with(Detail.REASON, reason(body, parked.contains(Keys.of(body))))));
    }

    private void recordClaim(ResultSet row, Set<String> parked) throws SQLException {
        String key = row.getString("key");
        String status = row.getString("status");
        if (status.equals("PARKED")) {
            parked.add(key);
            recorder.record(Event.of(Kind.PARKED).on(key).with(Detail.REASON, row.getString("reason")));
        }
        recorder.record(Event.of(Kind.STATE).on(key).with(Detail.STATUS, status));
    }

    private static String reason(String body, boolean parked) {
        if (parked) {
            return "its key is parked";
        }
        if (body.contains("\"POISON\"")) {
            return "its handler fails each time";
        }
        return body.endsWith("}") ? "its receives were used up" : "it cannot be read";
    }
}
