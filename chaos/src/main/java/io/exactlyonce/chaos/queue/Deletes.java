package io.exactlyonce.chaos.queue;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers deletions as AWS does. Deleting a message that is already deleted, or that another consumer has received
 * since, is not a failure. ElasticMQ reports such a receipt handle as invalid.
 */
final class Deletes {

    private static final String UNKNOWN_HANDLE = "ReceiptHandleIsInvalid";

    private Deletes() {}

    static String asOnAws(String body) {
        if (!body.contains(UNKNOWN_HANDLE)) {
            return body;
        }
        JsonNode answer = JsonMapper.shared().readTree(body);
        ArrayNode successful = JsonMapper.shared().createArrayNode();
        ArrayNode failed = JsonMapper.shared().createArrayNode();
        answer.path("Successful").forEach(successful::add);
        answer.path("Failed").forEach(entry -> {
            if (entry.path("Code").asString().contains(UNKNOWN_HANDLE)) {
                successful.add(JsonMapper.shared().createObjectNode().set("Id", entry.path("Id")));
            } else {
                failed.add(entry);
            }
        });
        ObjectNode mended = JsonMapper.shared().createObjectNode();
        mended.set("Successful", successful);
        mended.set("Failed", failed);
        return JsonMapper.shared().writeValueAsString(mended);
    }
}
