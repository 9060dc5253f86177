package io.exactlyonce.autoconfigure;

import io.exactlyonce.actuate.ExactlyOnceEndpoint;
import io.exactlyonce.actuate.RequestLimits;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * Filters requests to the endpoint {@code exactlyonce} on the management port. Adds the header {@code Retry-After} to
 * responses with status 503.
 *
 * <p>Servlet applications also get a limit for the length of request bodies, because Spring Boot reads the whole body
 * before it calls an endpoint. WebFlux has its own limit.
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnClass(ExactlyOnceEndpoint.class)
@ConditionalOnAvailableEndpoint(endpoint = ExactlyOnceEndpoint.class)
final class ExactlyOnceManagementConfiguration {

    private static final EndpointId ENDPOINT = EndpointId.of("exactlyonce");

    /** Returns whether a request is for the endpoint, or for a path below it. */
    private static boolean isOf(@Nullable String endpoint, String asked) {
        if (endpoint == null || !asked.contains(endpoint)) {
            return false;
        }
        String part = asked.substring(asked.lastIndexOf(endpoint) + endpoint.length());
        return part.isEmpty() || part.startsWith("/");
    }

    /** Adds the servlet filter for applications with Spring MVC or Jersey. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    static class Servlet {

        @Bean
        LimitingFilter exactlyOnceLimitingFilter(PathMappedEndpoints endpoints) {
            return new LimitingFilter(endpoints.getPath(ENDPOINT));
        }
    }

    /** Adds the web filter for applications with WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    static class Reactive {

        @Bean
        WebFilter exactlyOnceRetryAfterFilter(PathMappedEndpoints endpoints) {
            String path = endpoints.getPath(ENDPOINT);
            return (exchange, chain) -> {
                var response = exchange.getResponse();
                if (isOf(path, exchange.getRequest().getPath().value())) {
                    response.beforeCommit(() -> {
                        if (response.getStatusCode() == HttpStatus.SERVICE_UNAVAILABLE) {
                            response.getHeaders()
                                    .set(RequestLimits.RETRY_AFTER, String.valueOf(RequestLimits.RETRY_AFTER_SECONDS));
                        }
                        return Mono.empty();
                    });
                }
                return chain.filter(exchange);
            };
        }
    }

    static final class LimitingFilter extends OncePerRequestFilter {

        private final @Nullable String path;

        LimitingFilter(@Nullable String path) {
            this.path = path;
        }

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            // Unlike the request's URI, the servlet path and the path info are decoded and have no path parameters.
            String asked = request.getServletPath() + Objects.requireNonNullElse(request.getPathInfo(), "");
            if (!isOf(path, asked)) {
                chain.doFilter(request, response);
            } else if (request.getContentLengthLong() > RequestLimits.LONGEST_BODY) {
                response.setStatus(HttpStatus.CONTENT_TOO_LARGE.value());
            } else if (request.getHeader("Transfer-Encoding") != null) {
                response.setStatus(HttpStatus.LENGTH_REQUIRED.value());
            } else {
                chain.doFilter(request, new RetryAfterResponse(response));
            }
        }
    }

    private static final class RetryAfterResponse extends HttpServletResponseWrapper {

        RetryAfterResponse(HttpServletResponse response) {
            super(response);
        }

        @Override
        public void setStatus(int status) {
            if (status == HttpServletResponse.SC_SERVICE_UNAVAILABLE) {
                setIntHeader(RequestLimits.RETRY_AFTER, RequestLimits.RETRY_AFTER_SECONDS);
            }
            super.setStatus(status);
        }
    }
}
