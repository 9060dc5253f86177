package io.exactlyonce.chaos.dynamodb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Refuses some requests, as DynamoDB does for a hot table. Whole requests fail with an exception. Statements of a batch
 * get an error within a successful answer. Keys of a batch are returned as unprocessed.
 */
final class Throttling {

    private static final JsonMapper JSON = JsonMapper.shared();
    private static final String REFUSAL =
            "{\"__type\":\"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException\",\"message\":\"hot\"}";

    private final BooleanSupplier chance;

    /** @param chance decides whether to refuse the next part */
    Throttling(BooleanSupplier chance) {
        this.chance = chance;
    }

    /** Sends the parts that are not refused. */
    WireAnswer ask(WireRequest request, Service service) throws IOException, InterruptedException {
        return switch (request.operation()) {
            case "BatchExecuteStatement" -> statements(request, service);
            case "BatchGetItem" -> keys(request, service);
            default -> chance.getAsBoolean() ? refusal() : service.ask(request);
        };
    }

    private WireAnswer statements(WireRequest request, Service service) throws IOException, InterruptedException {
        ObjectNode body = (ObjectNode) JSON.readTree(request.body());
        List<Boolean> refused = new ArrayList<>();
        ArrayNode taken = JSON.createArrayNode();
        for (JsonNode statement : body.get("Statements")) {
            refused.add(chance.getAsBoolean());
            if (!refused.get(refused.size() - 1)) {
                taken.add(statement);
            }
        }
        if (taken.isEmpty()) {
            return refusal();
        }
        WireAnswer answer = service.ask(request.with(bytes(body.set("Statements", taken))));
        return answer.status() == 200 ? answer.with(bytes(merged(answer, refused))) : answer;
    }

    private static JsonNode merged(WireAnswer answer, List<Boolean> refused) {
        ObjectNode body = (ObjectNode) JSON.readTree(answer.body());
        ArrayNode all = JSON.createArrayNode();
        int next = 0;
        for (boolean isRefused : refused) {
            all.add(isRefused ? error() : body.get("Responses").get(next++));
        }
        return body.set("Responses", all);
    }

    private static JsonNode error() {
        return JSON.readTree("{\"Error\":{\"Code\":\"ThrottlingError\",\"Message\":\"hot\"}}");
    }

    private WireAnswer keys(WireRequest request, Service service) throws IOException, InterruptedException {
        ObjectNode body = (ObjectNode) JSON.readTree(request.body());
        String table = body.get("RequestItems").propertyNames().iterator().next();
        ObjectNode asked = (ObjectNode) body.get("RequestItems").get(table);
        ArrayNode taken = JSON.createArrayNode();
        ArrayNode refused = JSON.createArrayNode();
        asked.get("Keys").forEach(key -> (chance.getAsBoolean() ? refused : taken).add(key));
        if (taken.isEmpty()) {
            return refusal();
        }
        ObjectNode unprocessed = asked.deepCopy();
        asked.set("Keys", taken);
        WireAnswer answer = service.ask(request.with(bytes(body)));
        if (answer.status() != 200 || refused.isEmpty()) {
            return answer;
        }
        ObjectNode merged = (ObjectNode) JSON.readTree(answer.body());
        unprocessed.set("Keys", refused);
        merged.putObject("UnprocessedKeys").set(table, unprocessed);
        return answer.with(bytes(merged));
    }

    private static WireAnswer refusal() {
        return new WireAnswer(400, "application/x-amz-json-1.0", "", REFUSAL.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] bytes(JsonNode body) {
        return JSON.writeValueAsBytes(body);
    }

    /** The service behind the wire. */
    @FunctionalInterface
    interface Service {
        WireAnswer ask(WireRequest request) throws IOException, InterruptedException;
    }
}
