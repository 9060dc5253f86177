package io.exactlyonce.sample.live;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;

/** A headless Chromium with one page open, and what a person would do with it. */
final class Browser implements AutoCloseable {

    private static final List<String> BROWSERS = List.of("chromium", "chromium-browser", "google-chrome");

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    static Optional<File> program() {
        return BROWSERS.stream().flatMap(name -> onPath(name).stream()).findFirst();
    }

    static Optional<File> driverProgram() {
        return onPath("chromedriver");
    }

    static Browser open(URI page) {
        // The library misses classes of the newest browser's protocol; the calls here need none.
        Logger.getLogger("org.openqa.selenium").setLevel(Level.SEVERE);
        ChromeOptions options = new ChromeOptions();
        options.setBinary(program().orElseThrow());
        // The browser's sandbox does not work for root; the browser opens our page only.
        options.addArguments("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars");
        options.setCapability("goog:loggingPrefs", Map.of("browser", "ALL"));
        ChromeDriver driver = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(driverProgram().orElseThrow())
                        .build(),
                options);
        driver.get(page.toString());
        return new Browser(driver);
    }

    /** Shows the page as devices do. */
    void view(int width, int height, double scale) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", scale, "mobile", false));
    }

    /** Prefers something, such as {@code prefers-color-scheme: dark}, and nothing else. */
    void prefer(String feature, String value) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia", Map.of("features", List.of(Map.of("name", feature, "value", value))));
    }

    String text(String selector) {
        return find(selector).getText();
    }

    long number(String selector) {
        return Long.parseLong(text(selector));
    }

    WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    boolean has(String selector) {
        return !driver.findElements(By.cssSelector(selector)).isEmpty();
    }

    /** Opens another page in the place of this one. */
    void go(URI page) {
        driver.get("about:blank");
        driver.get(page.toString());
    }

    /** Types a text in the place of the one that a field has. */
    void type(String field, String text) {
        WebElement found = find(field);
        found.clear();
        found.sendKeys(text);
    }

    void choose(String option) {
        find(option).click();
    }

    /** Presses keys wherever the focus is. */
    void press(CharSequence... keys) {
        driver.switchTo().activeElement().sendKeys(keys);
    }

    /** Goes on with the Tab key until something has the focus. */
    void tabTo(String selector) {
        for (int i = 0; i < 50; i++) {
            if (Boolean.TRUE.equals(run("return document.activeElement.matches(arguments[0])", selector))) {
                return;
            }
            press(Keys.TAB);
        }
        throw new AssertionError("The Tab key does not reach " + selector);
    }

    Object run(String script, Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    /** Returns what axe-core finds wrong with the page as it is, contrast included. */
    List<?> accessibilityViolations() {
        if (Boolean.FALSE.equals(run("return 'axe' in window"))) {
            run(axe());
        }
        return (List<?>) driver.executeAsyncScript("""
                const done = arguments[arguments.length - 1];
                axe.run().then(found => done(found.violations.flatMap(violation => violation.nodes.map(
                    node => `${violation.id}: ${node.html} ${node.failureSummary}`))));
                """);
    }

    List<LogEntry> complaints() {
        return StreamSupport.stream(driver.manage().logs().get("browser").spliterator(), false)
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .toList();
    }

    void screenshot(Path file) throws IOException {
        Map<String, Object> shot = driver.executeCdpCommand("Page.captureScreenshot", Map.of("format", "png"));
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(file, Base64.getDecoder().decode((String) shot.get("data")));
    }

    @Override
    public void close() {
        driver.quit();
    }

    private static String axe() {
        try (InputStream script = Browser.class.getResourceAsStream("/axe.min.js")) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<File> onPath(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(directory -> new File(directory, program))
                .filter(File::canExecute)
                .findFirst();
    }
}
