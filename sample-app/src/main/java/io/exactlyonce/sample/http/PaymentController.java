package io.exactlyonce.sample.http;

import io.exactlyonce.ClaimHeldException;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.KeyReusedException;
import io.exactlyonce.ParkedException;
import io.exactlyonce.UnusableKeyException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Takes payments. If a client repeats a request with the same {@code Idempotency-Key}, it gets the same answer, and its
 * customer is charged once.
 */
@RestController
class PaymentController {

    /**
     * The scope of keys. An API with several clients would add the client's id, because equal keys of two clients are
     * different keys.
     */
    private static final String SCOPE = "POST /payments";

    private final ExactlyOnceOperations operations;
    private final PaymentProvider provider;
    private final JsonMapper json;

    PaymentController(ExactlyOnceOperations operations, PaymentProvider provider, JsonMapper json) {
        this.operations = operations;
        this.provider = provider;
        this.json = json;
    }

    /** Takes the body as text, so that the fingerprint is of the client's exact text. */
    @PostMapping("/payments")
    Payment pay(@RequestHeader("Idempotency-Key") String key, @RequestBody String body) {
        PaymentRequest request = json.readValue(body, PaymentRequest.class);
        return operations.once(SCOPE, key).comparing(body).call(Payment.class, claim -> {
            String chargeId = provider.charge(request, claim.downstreamKey());
            return new Payment(chargeId, request.orderId(), request.cents());
        });
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> held(ClaimHeldException held) {
        long seconds = Math.max(1, held.retryAfter().plusNanos(999_999_999).toSeconds());
        return ResponseEntity.status(HttpStatus.CONFLICT)
                .header(HttpHeaders.RETRY_AFTER, Long.toString(seconds))
                .body(problem(HttpStatus.CONFLICT, "A request with this Idempotency-Key is being handled"));
    }

    @ExceptionHandler
    ProblemDetail reused(KeyReusedException reused) {
        return problem(HttpStatus.UNPROCESSABLE_CONTENT, "This Idempotency-Key was used for another body");
    }

    @ExceptionHandler
    ProblemDetail parked(ParkedException parked) {
        return problem(HttpStatus.CONFLICT, "An earlier request with this Idempotency-Key is being looked into");
    }

    @ExceptionHandler
    ProblemDetail invalid(UnusableKeyException invalid) {
        return problem(HttpStatus.BAD_REQUEST, "The Idempotency-Key must be some text");
    }

    @ExceptionHandler
    ProblemDetail unreadable(JacksonException unreadable) {
        return problem(HttpStatus.BAD_REQUEST, "The body must be a payment: orderId and cents");
    }

    private static ProblemDetail problem(HttpStatus status, String detail) {
        return ProblemDetail.forStatusAndDetail(status, detail);
    }
}
