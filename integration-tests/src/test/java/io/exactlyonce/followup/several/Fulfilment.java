package io.exactlyonce.followup.several;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import java.util.List;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.stereotype.Component;

record Order(String orderId, List<Line> lines) {}

record Line(int number, String article) {}

record Parcel(String orderId, String article) {}

record Confirmation(String orderId) {}

@Component
class Fulfilment {

    private final SqsTemplate sqs;

    Fulfilment(SqsTemplate sqs) {
        this.sqs = sqs;
    }

    @ExactlyOnceListener(id = "several", queueNames = "exactly-once-it-several", key = "#order.orderId")
    void fulfil(Order order, Claim claim) {
        List<Message<Parcel>> parcels = order.lines().stream()
                .map(line -> MessageBuilder.withPayload(new Parcel(order.orderId(), line.article()))
                        .copyHeaders(claim.followUp("line " + line.number()).headers())
                        .build())
                .toList();
        sqs.sendMany("exactly-once-it-parcels", parcels);
        sqs.send(to -> to.queue("exactly-once-it-confirmations")
                .payload(new Confirmation(order.orderId()))
                .headers(claim.followUp("confirmed").headers()));
    }
}
