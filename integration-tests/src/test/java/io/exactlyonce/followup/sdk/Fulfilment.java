package io.exactlyonce.followup.sdk;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.FollowUp;
import org.springframework.stereotype.Component;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import tools.jackson.databind.json.JsonMapper;

record Order(String orderId) {}

record Shipment(String orderId) {}

@Component
class Fulfilment {

    private final SqsAsyncClient sqs;
    private final JsonMapper json;

    Fulfilment(SqsAsyncClient sqs, JsonMapper json) {
        this.sqs = sqs;
        this.json = json;
    }

    @ExactlyOnceListener(id = "sdk", queueNames = "exactly-once-it-sdk", key = "#order.orderId")
    void fulfil(Order order, Claim claim) {
        FollowUp shipped = claim.followUp("shipped");
        String queueUrl = sqs.getQueueUrl(request -> request.queueName("exactly-once-it-shipments"))
                .join()
                .queueUrl();
        sqs.sendMessage(request -> request.queueUrl(queueUrl)
                        .messageBody(json.writeValueAsString(new Shipment(order.orderId())))
                        .messageAttributes(shipped.attributes()))
                .join();
    }
}
