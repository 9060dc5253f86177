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
 * The servers, which both sides use, each with names of its own.
 *
 * @param payouts what an exactly-once worker needs to pay out
 * @param workspace where servers and workers keep their files
 */
record LiveServers(
        Databases databases, Replica replica, Queues queues, Map<String, String> payouts, Workspace workspace) {

    static LiveServers start(Duration window, Workspace workspace, Cleanup cleanup) throws IOException, SQLException {
        cleanup.add(workspace);
        Databases databases = cleanup.add(Databases.start(workspace));
        Replica replica = cleanup.add(Replica.start(databases, workspace));
        Queues queues = cleanup.add(Queues.start(window));
        return new LiveServers(databases, replica, queues, queues.createPayouts(window), workspace);
    }

    /** Returns what a worker needs to reach them, as Spring Boot's environment variables. */
    Map<String, String> environment(Kind kind) {
        Map<String, String> environment = new HashMap<>(databases.environment(kind));
        environment.putAll(queues.environment(kind));
        environment.put("ORDERS_REPLICAURL", replica.url(kind));
        if (kind == Kind.EXACTLY_ONCE) {
            environment.putAll(payouts);
            // Every reader of the lab's page may see its keys, and decide on them.
            environment.put("MANAGEMENT_ENDPOINT_EXACTLYONCE_ACCESS", "unrestricted");
            environment.put("MANAGEMENT_ENDPOINT_EXACTLYONCE_SHOWVALUES", "always");
        }
        return environment;
    }
}
