package io.exactlyonce.autoconfigure;

import io.exactlyonce.actuate.ExactlyOnceConsoleEndpoint;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.server.PathContainer;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * Adds headers for security and caching to the operators' page on the management port. An actuator endpoint cannot set
 * headers itself.
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnClass(ExactlyOnceConsoleEndpoint.class)
@ConditionalOnAvailableEndpoint(endpoint = ExactlyOnceConsoleEndpoint.class)
final class ExactlyOnceConsoleManagementConfiguration {

    static final EndpointId ENDPOINT = EndpointId.of("exactlyonceconsole");

    private static final Map<String, String> HEADERS = Map.of(
            "Content-Security-Policy", ExactlyOnceConsoleEndpoint.contentSecurityPolicy(),
            "X-Content-Type-Options", "nosniff",
            "X-Frame-Options", "DENY",
            "Referrer-Policy", "no-referrer",
            "Cache-Control", "no-store");

    /** Adds the servlet filter for applications with Spring MVC or Jersey. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    static class Servlet {

        @Bean
        HeadersFilter exactlyOnceConsoleHeadersFilter(PathMappedEndpoints endpoints) {
            return new HeadersFilter(endpoints.getPath(ENDPOINT));
        }
    }

    /** Adds the web filter for applications with WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    static class Reactive {

        @Bean
        WebFilter exactlyOnceConsoleHeadersFilter(PathMappedEndpoints endpoints) {
            String path = endpoints.getPath(ENDPOINT);
            return (exchange, chain) -> {
                if (path != null && decoded(exchange.getRequest().getPath()).contains(path)) {
                    exchange.getResponse().beforeCommit(() -> {
                        HEADERS.forEach(exchange.getResponse().getHeaders()::set);
                        return Mono.empty();
                    });
                }
                return chain.filter(exchange);
            };
        }
    }

    /**
     * Decodes the path of a request, so that every spelling of the page's path is recognized, such as {@code %65}
     * instead of {@code e}. Each response with the page must have the security headers.
     */
    private static String decoded(PathContainer path) {
        return path.elements().stream()
                .map(element ->
                        element instanceof PathContainer.PathSegment segment ? segment.valueToMatch() : element.value())
                .collect(Collectors.joining());
    }

    static final class HeadersFilter extends OncePerRequestFilter {

        private final @Nullable String path;

        HeadersFilter(@Nullable String path) {
            this.path = path;
        }

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            String asked = request.getServletPath() + Objects.requireNonNullElse(request.getPathInfo(), "");
            // Jersey also serves the page if its path ends with a slash, so the path is searched with contains(..).
            if (path != null && asked.contains(path)) {
                HEADERS.forEach(response::setHeader);
            }
            chain.doFilter(request, response);
        }
    }
}
