package io.exactlyonce.actuate;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * {@code /actuator/exactlyonceconsole}: a web page for operators. The page's script calls the endpoint
 * {@code exactlyonce} from the operator's browser, so it can do only what the operator is allowed to do.
 */
@WebEndpoint(id = "exactlyonceconsole", defaultAccess = Access.READ_ONLY)
public final class ExactlyOnceConsoleEndpoint {

    private final Supplier<String> api;
    private final BooleanSupplier mayWrite;

    /**
     * Creates the endpoint. Both arguments are functions that are called at each request, because Spring Boot discovers
     * the endpoint {@code exactlyonce} only after it has created this bean.
     *
     * @param api returns the URL of the endpoint {@code exactlyonce}, relative to the page
     * @param mayWrite returns whether the endpoint {@code exactlyonce} lets callers release or complete parked keys
     */
    public ExactlyOnceConsoleEndpoint(Supplier<String> api, BooleanSupplier mayWrite) {
        this.api = api;
        this.mayWrite = mayWrite;
    }

    /** Returns the page, which contains only ASCII characters. */
    @ReadOperation(produces = "text/html;charset=UTF-8")
    public String page() {
        return ConsolePage.html(api.get(), mayWrite.getAsBoolean());
    }

    /** Returns the value of the header {@code Content-Security-Policy} for the page. */
    public static String contentSecurityPolicy() {
        return ConsolePage.contentSecurityPolicy();
    }
}
