package io.exactlyonce.chaos.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DeletesTests {

    @Test
    void deleteOfWhatIsGoneSucceedsAsOnAws() {
        String answer = Deletes.asOnAws(
                "{\"Successful\":[{\"Id\":\"a\"}],\"Failed\":[{\"Id\":\"b\",\"Code\":\"ReceiptHandleIsInvalid\"},"
                        + "{\"Id\":\"c\",\"Code\":\"InternalError\"}]}");

        assertThat(answer)
                .isEqualTo(
                        "{\"Successful\":[{\"Id\":\"a\"},{\"Id\":\"b\"}],\"Failed\":[{\"Id\":\"c\",\"Code\":\"InternalError\"}]}");
    }
}
