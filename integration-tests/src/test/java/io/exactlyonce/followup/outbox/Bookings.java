package io.exactlyonce.followup.outbox;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.FollowUp;
import java.time.Duration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

record Booking(String orderId) {}

record Booked(String orderId, FollowUp followUp) {}

record Shipment(String orderId) {}

@Component
class Bookings {

    private final JdbcClient jdbc;
    private final ApplicationEventPublisher events;

    Bookings(JdbcClient jdbc, ApplicationEventPublisher events) {
        this.jdbc = jdbc;
        this.events = events;
    }

    @ExactlyOnceListener(
            id = "bookings",
            queueNames = "exactly-once-it-bookings",
            key = "#booking.orderId",
            effects = Effects.DATABASE)
    void book(Booking booking, Claim claim) {
        jdbc.sql("INSERT INTO booking (order_id) VALUES (?)")
                .param(booking.orderId())
                .update();
        events.publishEvent(new Booked(booking.orderId(), claim.followUp("booked")));
    }
}

@Component
class Relay {

    private final SqsTemplate sqs;
    private final IncompleteEventPublications publications;

    Relay(SqsTemplate sqs, IncompleteEventPublications publications) {
        this.sqs = sqs;
        this.publications = publications;
    }

    @ApplicationModuleListener
    void send(Booked event) {
        sqs.send(to -> to.queue("exactly-once-it-shipments")
                .payload(new Shipment(event.orderId()))
                .headers(event.followUp().headers()));
    }

    @Scheduled(fixedDelayString = "60s")
    void resubmit() {
        publications.resubmitIncompletePublicationsOlderThan(Duration.ofMinutes(1));
    }
}
