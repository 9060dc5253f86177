package io.exactlyonce.sample.lab;

import java.util.HashMap;
import java.util.Map;

/**
 * The servers of both sides. Each side has separate names on them.
 *
 * @param claims settings for an exactly-once worker that keeps claims outside its database
 * @param workspace the directories for files of servers and workers
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
