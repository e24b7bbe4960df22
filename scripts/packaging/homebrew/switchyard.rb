class Switchyard < Formula
  desc "Gateway for language-model APIs"
  homepage "@ADDRESS@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@ADDRESS@/v@VERSION@/switchyard-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@darwin-arm64@"
    end
    on_intel do
      url "@ADDRESS@/v@VERSION@/switchyard-@VERSION@-darwin-x64.tar.gz"
      sha256 "@darwin-x64@"
    end
  end

  on_linux do
    on_arm do
      url "@ADDRESS@/v@VERSION@/switchyard-@VERSION@-linux-arm64.tar.gz"
      sha256 "@linux-arm64@"
    end
    on_intel do
      url "@ADDRESS@/v@VERSION@/switchyard-@VERSION@-linux-x64.tar.gz"
      sha256 "@linux-x64@"
    end
  end

  def install
    bin.install "switchyard"
    pkgshare.install "config.schema.json"
    inreplace "config.yaml", "$schema=", "$schema=#{opt_pkgshare}/"
    pkgetc.install "config.yaml"
    generate_completions_from_executable(bin/"switchyard", "completions")
  end

  service do
    run [opt_bin/"switchyard", "--config", etc/"switchyard/config.yaml"]
    keep_alive crashed: true
    log_path var/"log/switchyard.log"
    error_log_path var/"log/switchyard.log"
  end

  test do
    assert_match "switchyard #{version}", shell_output("#{bin}/switchyard --version")
  end
end
