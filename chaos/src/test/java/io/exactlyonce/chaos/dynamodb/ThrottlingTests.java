package io.exactlyonce.chaos.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ThrottlingTests {

    private static final String THREE = "{'Statements':[{'Statement':'a'},{'Statement':'b'},{'Statement':'c'}]}";
    private static final String KEYS = "{'RequestItems':{'t':{'ConsistentRead':true,'Keys':[{'pk':1},{'pk':2}]}}}";

    private final Deque<Boolean> chances = new ArrayDeque<>();
    private final Throttling throttling = new Throttling(chances::pop);
    private final List<String> asked = new ArrayList<>();

    @Test
    void statementsAreRefusedOneByOneAtTheirPlaces() throws Exception {
        chances.addAll(List.of(true, false, true));

        String answer = ask("BatchExecuteStatement", THREE, "{'Responses':[{'TableName':'b'}]}");

        String error = "{'Error':{'Code':'ThrottlingError','Message':'hot'}}";
        assertThat(asked).containsExactly("{'Statements':[{'Statement':'b'}]}");
        assertThat(answer).isEqualTo("200 {'Responses':[%s,{'TableName':'b'},%s]}".formatted(error, error));
    }

    @Test
    void requestOfWhichNothingIsTakenIsRefusedAsAWhole() throws Exception {
        chances.addAll(List.of(true, true, true));

        assertThat(ask("BatchExecuteStatement", THREE, ""))
                .startsWith("400 ")
                .contains("#ProvisionedThroughputExceededException");
        assertThat(asked).isEmpty();
    }

    @Test
    void keysThatAreRefusedAreUnprocessed() throws Exception {
        chances.addAll(List.of(false, true));

        String answer = ask("BatchGetItem", KEYS, "{'Responses':{'t':[{'pk':1}]},'UnprocessedKeys':{}}");

        assertThat(asked).containsExactly("{'RequestItems':{'t':{'ConsistentRead':true,'Keys':[{'pk':1}]}}}");
        assertThat(answer)
                .isEqualTo("200 {'Responses':{'t':[{'pk':1}]},"
                        + "'UnprocessedKeys':{'t':{'ConsistentRead':true,'Keys':[{'pk':2}]}}}");
    }

    @Test
    void otherRequestsAreRefusedOrPassed() throws Exception {
        chances.addAll(List.of(true, false));

        assertThat(ask("TransactWriteItems", "{}", "{}")).startsWith("400 ");
        assertThat(ask("TransactWriteItems", "{}", "{}")).isEqualTo("200 {}");
    }

    /** This test uses single quotes for readability. */
    private String ask(String operation, String body, String answer) throws Exception {
        WireRequest request = new WireRequest(
                Map.of("x-amz-target", "DynamoDB_20120810." + operation), bytes(body.replace('\'', '"')));
        WireAnswer answered = throttling.ask(request, taken -> {
            asked.add(text(taken.body()));
            return new WireAnswer(200, taken.contentType(), "", bytes(answer.replace('\'', '"')));
        });
        return answered.status() + " " + text(answered.body());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] body) {
        return new String(body, StandardCharsets.UTF_8).replace('"', '\'');
    }
}
