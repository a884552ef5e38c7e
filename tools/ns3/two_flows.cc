// Two CUBIC flows over one bottleneck in ns-3: their shares, and how long packets waited. Prints one line of JSON.
//
// tools/ns3/run compiles it against the distribution's ns-3 and makes the cells of docs/fidelity.md.
//
// The path is that of longhaul's experiments: rate of the bottleneck, half of the round trip each way behind it, everything else fast.
// Rates here include ns-3's two bytes of PPP header; they are added to the rate, so that IP packets meet the same one. A device holds two
// packets behind the queue, one that it sends and one that is next; longhaul's has none. So the queue gets two packets less of room, and
// CoDel, which sees a packet leave a transmission early, a target that is lower by that.
//
// ns-3 3.37 differs from the kernel's TCP in four things that decide here. --mend names those that are mended:
//   hystart  the round trip that ends slow start is an eighth longer than the shortest, not twice as long
//   bound    slow start ends at ssthresh; as shipped, an ACK that closes a hole after a timeout adds all that it covers
//   reno     the window grows at least as Reno's would (RFC 9438, section 4.3)
//   prr      the product in the proportional reduction has more than 32 bits, which it needs from windows of 54 segments on

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

using namespace ns3;

namespace
{
std::vector<double> g_waits;
double g_from = 60;
std::vector<uint64_t> g_before{0, 0};
std::vector<Ptr<PacketSink>> g_sinks;

// A packet waits from its arrival at the queue until its transmission begins: the queue hands it to the device a packet earlier. A tag
// carries the time, because segments of one write share their number.
class EntryTag : public Tag
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("longhaul::EntryTag").SetParent<Tag>().AddConstructor<EntryTag>();
        return tid;
    }

    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return 8;
    }

    void Serialize(TagBuffer buffer) const override
    {
        buffer.WriteU64(uint64_t(m_entered.GetNanoSeconds()));
    }

    void Deserialize(TagBuffer buffer) override
    {
        m_entered = NanoSeconds(int64_t(buffer.ReadU64()));
    }

    void Print(std::ostream& os) const override
    {
        os << m_entered;
    }

    Time m_entered;
};

void Entered(Ptr<const QueueDiscItem> item)
{
    EntryTag tag;
    tag.m_entered = Simulator::Now();
    item->GetPacket()->ReplacePacketTag(tag);
}

void Leaves(Ptr<const Packet> packet)
{
    EntryTag tag;
    if (Simulator::Now().GetSeconds() >= g_from && packet->PeekPacketTag(tag))
    {
        g_waits.push_back((Simulator::Now() - tag.m_entered).GetSeconds() * 1e3);
    }
}

Ptr<QueueDisc> g_disc;
uint64_t g_dropped_before = 0;

void OpenWindow()
{
    g_dropped_before = g_disc->GetStats().nTotalDroppedPackets;
    for (size_t flow = 0; flow < g_sinks.size(); ++flow)
    {
        g_before[flow] = g_sinks[flow]->GetTotalRx();
    }
}

std::string g_mend = "hystart,bound,reno,prr";

bool Mends(const std::string& what)
{
    return ("," + g_mend + ",").find("," + what + ",") != std::string::npos;
}

// ns-3's CUBIC with slow start that ends at ssthresh, and with Reno's window as the least.
class MendedCubic : public TcpCubic
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("longhaul::MendedCubic").SetParent<TcpCubic>().AddConstructor<MendedCubic>();
        return tid;
    }

    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t acked) override
    {
        const uint32_t before = tcb->m_cWnd;
        const uint32_t ssthresh = tcb->m_ssThresh;
        const uint32_t segment = tcb->m_segmentSize;
        if (before < ssthresh)
        {
            // In 64 bits: the first ssthresh is the greatest number of 32.
            uint64_t missing = (uint64_t(ssthresh) - before + segment - 1) / segment;
            TcpCubic::IncreaseWindow(tcb, Mends("bound") ? uint32_t(std::min<uint64_t>(acked, missing)) : acked);
            return;
        }
        TcpCubic::IncreaseWindow(tcb, acked);
        const double cwnd = double(before) / segment;
        if (m_begins)
        {
            m_begins = false;
            m_reno = cwnd;
            m_acked = 0;
        }
        m_reno += acked * (3 * 0.3 / 1.7) / cwnd;
        m_acked += acked;
        const double behind = std::floor(m_reno - cwnd);
        if (tcb->m_cWnd > before)
        {
            m_acked = 0;
        }
        else if (Mends("reno") && behind >= 1 && m_acked >= std::max(cwnd / behind, 2.0))
        {
            tcb->m_cWnd += segment;
            m_acked = 0;
        }
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t inFlight) override
    {
        m_begins = true;
        return TcpCubic::GetSsThresh(tcb, inFlight);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<MendedCubic>(this);
    }

  private:
    bool m_begins = true;
    double m_reno = 0;
    double m_acked = 0;
};

// ns-3's proportional reduction, its product in floating point.
class MendedPrr : public TcpPrrRecovery
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("longhaul::MendedPrr").SetParent<TcpPrrRecovery>().AddConstructor<MendedPrr>();
        return tid;
    }

    void EnterRecovery(Ptr<TcpSocketState> tcb, uint32_t dupAcks, uint32_t unacked, uint32_t delivered) override
    {
        m_delivered = 0;
        m_sent = 0;
        m_flight = unacked;
        TcpPrrRecovery::EnterRecovery(tcb, dupAcks, unacked, delivered);
    }

    void DoRecovery(Ptr<TcpSocketState> tcb, uint32_t delivered) override
    {
        const bool reduces = tcb->m_bytesInFlight > tcb->m_ssThresh;
        TcpPrrRecovery::DoRecovery(tcb, delivered);
        m_delivered += delivered;
        if (reduces)
        {
            const double due = std::ceil(m_delivered * tcb->m_ssThresh / m_flight) - m_sent;
            tcb->m_cWnd = tcb->m_bytesInFlight + uint32_t(std::max(due, m_sent > 0 ? 0.0 : double(tcb->m_segmentSize)));
            tcb->m_cWndInfl = tcb->m_cWnd;
        }
    }

    void UpdateBytesSent(uint32_t sent) override
    {
        m_sent += sent;
        TcpPrrRecovery::UpdateBytesSent(sent);
    }

    Ptr<TcpRecoveryOps> Fork() override
    {
        return CopyObject<MendedPrr>(this);
    }

  private:
    double m_delivered = 0;
    double m_sent = 0;
    double m_flight = 0;
};

NS_OBJECT_ENSURE_REGISTERED(MendedCubic);
NS_OBJECT_ENSURE_REGISTERED(MendedPrr);
} // namespace

int main(int argc, char* argv[])
{
    double mbit = 20;
    double rttMs = 50;
    double bdp = 1;
    double until = 180;
    double second = 2;
    uint32_t run = 1;
    std::string queue = "droptail";
    CommandLine cmd;
    cmd.AddValue("mbit", "rate of the bottleneck, Mbit/s of IP packets", mbit);
    cmd.AddValue("rtt", "round-trip time, ms", rttMs);
    cmd.AddValue("bdp", "room of a drop-tail queue, bandwidth-delay products", bdp);
    cmd.AddValue("queue", "droptail, codel or fq_codel", queue);
    cmd.AddValue("second", "start of the second flow, s", second);
    cmd.AddValue("from", "start of the window, s", g_from);
    cmd.AddValue("until", "end of the window and of the run, s", until);
    cmd.AddValue("mend", "what is mended of hystart, bound, reno and prr; none for ns-3 as shipped", g_mend);
    cmd.AddValue("run", "number of the random stream", run);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(MendedCubic::GetTypeId()));
    if (Mends("hystart"))
    {
        Config::SetDefault("ns3::TcpCubic::HyStartDelayMax", TimeValue(MicroSeconds(uint64_t(std::clamp(rttMs / 8, 4.0, 16.0) * 1e3))));
    }
    if (Mends("prr"))
    {
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(MendedPrr::GetTypeId()));
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));

    NodeContainer routers;
    routers.Create(2);
    NodeContainer senders;
    senders.Create(2);
    NodeContainer receivers;
    receivers.Create(2);
    InternetStackHelper().InstallAll();

    PointToPointHelper fast;
    fast.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    fast.SetChannelAttribute("Delay", StringValue("1us"));
    PointToPointHelper slow;
    slow.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(mbit * 1e6 * 1502 / 1500))));
    slow.SetChannelAttribute("Delay", TimeValue(MicroSeconds(uint64_t(rttMs * 500 - 2))));
    slow.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));

    NetDeviceContainer bottleneck = slow.Install(routers);
    const double packetMs = 1500 * 8 / (mbit * 1e3);
    const std::string target = std::to_string(uint64_t((5 - packetMs) * 1e3)) + "us";
    TrafficControlHelper control;
    if (queue == "codel")
    {
        control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", StringValue("1000p"), "Target", StringValue(target));
    }
    else if (queue == "fq_codel")
    {
        control.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "Target", StringValue(target));
    }
    else
    {
        auto room = uint32_t(mbit * 1e6 * rttMs / 1e3 / 8 * bdp) - 2 * 1500;
        control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(std::to_string(room) + "B"));
    }
    QueueDiscContainer discs = control.Install(bottleneck.Get(0));
    g_disc = discs.Get(0);
    g_disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&Entered));
    bottleneck.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Leaves));

    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.0");
    address.Assign(bottleneck);
    for (uint32_t flow = 0; flow < 2; ++flow)
    {
        address.NewNetwork();
        address.Assign(fast.Install(senders.Get(flow), routers.Get(0)));
        address.NewNetwork();
        Ipv4InterfaceContainer ends = address.Assign(fast.Install(routers.Get(1), receivers.Get(flow)));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        ApplicationContainer sinks = sink.Install(receivers.Get(flow));
        g_sinks.push_back(DynamicCast<PacketSink>(sinks.Get(0)));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), 5000));
        ApplicationContainer sources = source.Install(senders.Get(flow));
        sources.Start(Seconds(flow == 0 ? 0.001 : second));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Schedule(Seconds(g_from), &OpenWindow);
    Simulator::Stop(Seconds(until));
    Simulator::Run();

    std::vector<double> read;
    for (size_t flow = 0; flow < 2; ++flow)
    {
        read.push_back(double(g_sinks[flow]->GetTotalRx() - g_before[flow]));
    }
    std::sort(g_waits.begin(), g_waits.end());
    double p95 = g_waits.empty() ? 0 : g_waits[g_waits.size() * 95 / 100];
    double p50 = g_waits.empty() ? 0 : g_waits[g_waits.size() / 2];
    const uint64_t dropped = g_disc->GetStats().nTotalDroppedPackets;
    std::cout << "{\"mend\":\"" << g_mend << "\",\"queue\":\"" << queue << "\",\"mbit\":" << mbit << ",\"rtt_ms\":" << rttMs << ",\"run\":" << run
              << ",\"second_s\":" << second << ",\"first_pct\":" << 100 * read[0] / (read[0] + read[1])
              << ",\"early\":[" << g_before[0] << "," << g_before[1] << "]"
              << ",\"use\":" << (read[0] + read[1]) * 8 / (until - g_from) / (mbit * 1e6) * 1500 / 1460
              << ",\"wait_p50_ms\":" << p50 << ",\"wait_p95_ms\":" << p95
              << ",\"dropped\":" << dropped << ",\"dropped_before\":" << g_dropped_before << "}" << std::endl;
    g_disc = nullptr;
    Simulator::Destroy();
    return 0;
}
