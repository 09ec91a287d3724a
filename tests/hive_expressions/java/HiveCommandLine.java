import java.net.URL;
import java.net.URLClassLoader;
import org.apache.hadoop.hive.cli.CliDriver;

/** Hive 2.3's command line on a Java whose own class loader is no URLClassLoader, which Hive expects. */
public final class HiveCommandLine {
  private HiveCommandLine() {}

  public static void main(String[] arguments) throws Exception {
    Thread.currentThread().setContextClassLoader(new URLClassLoader(new URL[0], HiveCommandLine.class.getClassLoader()));
    CliDriver.main(arguments);
  }
}
