package io.exactlyonce.sample.lab;

import java.util.HashMap;
import java.util.Map;

/**
 * The servers, which both sides use, each with names of its own.
 *
 * @param claims what an exactly-once worker needs to keep its claims elsewhere than in its database
 * @param workspace where servers and workers keep their files
 */
record LabServers(Databases databases, Queues queues, Map<String, String> claims, Workspace workspace) {

    Map<String, String> environment(Kind kind) {
        Map<String, String> environment = new HashMap<>(databases.environment(kind));
        environment.putAll(queues.environment(kind));
        if (kind == Kind.EXACTLY_ONCE) {
            environment.putAll(claims);
        }
        return environment;
    }
}
