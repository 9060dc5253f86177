package io.exactlyonce.actuate;

import io.exactlyonce.actuate.DeadLetterRedrive.Redrives;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/** What differs of {@link ExactlyOnceEndpoint} over HTTP: a redrive that SQS refuses has a status of its own. */
@EndpointWebExtension(endpoint = ExactlyOnceEndpoint.class)
public final class ExactlyOnceEndpointWebExtension {

    private static final int BAD_GATEWAY = 502;

    private final ExactlyOnceEndpoint endpoint;

    /** @param endpoint does the work */
    public ExactlyOnceEndpointWebExtension(ExactlyOnceEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /**
     * Does what {@link ExactlyOnceEndpoint#redrive} does.
     *
     * @return 200, or 502 with the same body if SQS refuses to redrive any of the queues
     */
    @WriteOperation
    public WebEndpointResponse<Redrives> redrive(SecurityContext security, @Selector String listener, String action) {
        Redrives redrives = endpoint.redrive(security, listener, action);
        return new WebEndpointResponse<>(
                redrives, redrives.refused().isEmpty() ? WebEndpointResponse.STATUS_OK : BAD_GATEWAY);
    }
}
