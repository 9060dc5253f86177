package io.exactlyonce.sample.live;

import io.exactlyonce.sample.lab.Cleanup;
import io.exactlyonce.sample.lab.Databases;
import io.exactlyonce.sample.lab.Kind;
import io.exactlyonce.sample.lab.Queues;
import io.exactlyonce.sample.lab.Workspace;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The servers of both sides. Each side has separate names on them.
 *
 * @param payouts settings for an exactly-once worker that pays out
 * @param workspace the directories for files of servers and workers
 */
record LiveServers(
        Databases databases, Replica replica, Queues queues, Map<String, String> payouts, Workspace workspace) {

    static LiveServers start(Duration visibilityTimeout, Workspace workspace, Cleanup cleanup)
            throws IOException, SQLException {
        cleanup.add(workspace);
        Databases databases = cleanup.add(Databases.start(workspace));
        Replica replica = cleanup.add(Replica.start(databases, workspace));
        Queues queues = cleanup.add(Queues.start(visibilityTimeout));
        return new LiveServers(databases, replica, queues, queues.createPayouts(visibilityTimeout), workspace);
    }

    /** Returns a worker's settings for the servers, as environment variables of Spring Boot. */
    Map<String, String> environment(Kind kind) {
        Map<String, String> environment = new HashMap<>(databases.environment(kind));
        environment.putAll(queues.environment(kind));
        environment.put("ORDERS_REPLICAURL", replica.url(kind));
        if (kind == Kind.EXACTLY_ONCE) {
            environment.putAll(payouts);
            // Every reader of the lab's page may see its keys, and may decide on them.
            environment.put("MANAGEMENT_ENDPOINT_EXACTLYONCE_ACCESS", "unrestricted");
            environment.put("MANAGEMENT_ENDPOINT_EXACTLYONCE_SHOWVALUES", "always");
        }
        return environment;
    }
}
