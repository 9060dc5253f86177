package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.WebFilter;

/** The filter for WebFlux. Tests with a server cover the filter for servlets. */
class ExactlyOnceManagementConfigurationTests {

    @ParameterizedTest
    @CsvSource({
        "/actuator/exactlyonce, SERVICE_UNAVAILABLE, 1",
        "/actuator/exactlyonce, CONFLICT,",
        "/actuator/health, SERVICE_UNAVAILABLE,"
    })
    void webFluxReturnsWhenToRepeatARefusedRequest(String path, HttpStatus status, String retryAfter) {
        PathMappedEndpoints endpoints = mock();
        when(endpoints.getPath(any())).thenReturn("/actuator/exactlyonce");
        WebFilter filter = new ExactlyOnceManagementConfiguration.Reactive().exactlyOnceRetryAfterFilter(endpoints);
        MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get(path));

        filter.filter(exchange, answering -> {
                    answering.getResponse().setStatusCode(status);
                    return answering.getResponse().setComplete();
                })
                .block();

        assertThat(exchange.getResponse().getHeaders().getFirst("Retry-After")).isEqualTo(retryAfter);
    }
}
