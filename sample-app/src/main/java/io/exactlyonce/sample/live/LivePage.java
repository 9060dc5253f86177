package io.exactlyonce.sample.live;

import io.exactlyonce.sample.lab.LabException;
import java.net.URI;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;

/** The web page's server, on loopback only. The page itself is in {@code static/}. */
@SpringBootConfiguration(proxyBeanMethods = false)
@ImportAutoConfiguration({
    TomcatServletWebServerAutoConfiguration.class,
    DispatcherServletAutoConfiguration.class,
    WebMvcAutoConfiguration.class,
    HttpMessageConvertersAutoConfiguration.class,
    JacksonAutoConfiguration.class
})
@Import({LiveController.class, Watchers.class, LoopbackFilter.class})
class LivePage {

    private static final String HOST = "127.0.0.1";

    static Running start(LiveLab lab, int port) {
        SpringApplication application = new SpringApplication(LivePage.class);
        application.setWebApplicationType(WebApplicationType.SERVLET);
        application.setRegisterShutdownHook(false);
        application.setDefaultProperties(Map.of(
                // Application.yml belongs to the workers.
                "spring.config.name", "live",
                "spring.main.banner-mode", "off",
                "server.address", HOST,
                "server.port", port,
                // Pages stay connected forever.
                "server.shutdown", "immediate"));
        // The lab is a singleton that the context does not close, because the lab closes the context.
        application.addInitializers(context -> context.getBeanFactory().registerSingleton("lab", lab));
        try {
            return new Running(application.run());
        } catch (ApplicationContextException e) {
            if (e.contains(PortInUseException.class)) {
                throw new LabException("Port %d is in use; choose another with --serve=PORT".formatted(port), e);
            }
            throw e;
        }
    }

    /** The running page. */
    record Running(ConfigurableApplicationContext context) implements AutoCloseable {

        URI url() {
            return URI.create(
                    "http://%s:%s".formatted(HOST, context.getEnvironment().getProperty("local.server.port")));
        }

        @Override
        public void close() {
            context.close();
        }
    }
}
