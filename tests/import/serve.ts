import { parse, stringify } from "npm:yaml";
const ROOT="/work/wt/o39", dec=new TextDecoder();
const run=(args:string[],env:Record<string,string>={},cwd="/tmp/o39")=>new Deno.Command(`${ROOT}/scripts/deno`,{args:["run","-A","--no-check",`${ROOT}/main.ts`,...args],env,cwd,stdout:"piped",stderr:"piped"});
const got:any[]=[];
const up=Deno.serve({hostname:"127.0.0.1",port:0,onListen(){}},async q=>{const path=new URL(q.url).pathname; const b=JSON.parse(await q.text().catch(()=>"{}")||"{}"); got.push(path+" "+b.model);
 if(path.endsWith("/messages")) return Response.json({id:"m",type:"message",role:"assistant",model:b.model,content:[{type:"text",text:"x"}],stop_reason:"end_turn",usage:{input_tokens:1,output_tokens:1}});
 if(path.endsWith("/api/chat")) return Response.json({model:b.model,created_at:"2026-01-01T00:00:00Z",message:{role:"assistant",content:"x"},done:true,done_reason:"stop",prompt_eval_count:1,eval_count:1});
 if(path.endsWith("/embeddings")) return Response.json({object:"list",model:b.model,data:[{object:"embedding",index:0,embedding:[0.1]}],usage:{prompt_tokens:1,total_tokens:1}});
 return Response.json({id:"c",object:"chat.completion",created:1,model:b.model,choices:[{index:0,message:{role:"assistant",content:"x"},finish_reason:"stop"}],usage:{prompt_tokens:1,completion_tokens:1,total_tokens:2}})});
for (const [d,src,from,key] of [["a","litellm_config.yaml","litellm","sk-masterSECRET-0123456789"],["c","litellm_config.yaml","litellm","sk-master-client-000000000000"],["b","hostile.yaml","litellm","12345678901234567890"],["d","config.json","claude-code-router","ccrSECRETkey1234567"]] as const){
 const o=`/tmp/o39/${d}/served.yaml`; await Deno.remove(o).catch(()=>{});
 const i=await run(["import",from,`/tmp/o39/${d}/${src}`,"--output",o]).output(); console.log(d,"import",i.code);
 const names=/Set before the start: (.*)\./.exec(dec.decode(i.stderr))?.[1].split(", ")??[];
 const env=Object.fromEntries(names.map(n=>[n,n==="LITELLM_MASTER_KEY"?"sk-master-client-000000000000":n==="REDIS_HOST"?"127.0.0.1":n==="GOOGLE_APPLICATION_CREDENTIALS"?"/tmp/o39/none.json":"v-"+n+"-0123456789"]));
 const c=await run(["check","--config",o],env).output(); console.log("check",c.code,dec.decode(c.stderr).split("\n").slice(-6).join(" | ").slice(0,500));
 const doc=parse(Deno.readTextFileSync(o)); for(const p of Object.values<any>(doc.providers)){p.base_url=`http://127.0.0.1:${up.addr.port}`+(p.type==="compat"?"/v1":""); if(p.credential){delete p.credential; p.api_key="x"}} doc.state={store:"memory"}; doc.server={port:0};
 const f=`/tmp/o39/${d}/served2.yaml`; Deno.writeTextFileSync(f,stringify(doc));
 const p=run(["--config",f],env).spawn(); let out=""; const pump=async(s:any)=>{for await(const x of s) out+=dec.decode(x)}; const ps=[pump(p.stdout),pump(p.stderr)];
 let url=""; for(let k=0;k<100&&!url;k++){await new Promise(r=>setTimeout(r,50)); url=/listens on (http:\/\/\S+?:\d+)/.exec(out)?.[1]??""} if(!url){console.log(out);p.kill();continue}
 const H={authorization:"Bearer "+key,"content-type":"application/json"};
 const models=(await (await fetch(url+"/v1/models",{headers:H})).json()).data?.map((m:any)=>m.id); console.log("models",models?.join(" "));
 for(const n of [...Object.keys(doc.models), ...(from==="litellm"?[]:["claude-haiku-4-5","claude-opus-4-6","gemini/gemini-2.5-flash","openrouter/anthropic/claude-sonnet-4"])]){ got.length=0; if(n.includes("*")&&n!=="*")continue; const model=n==="*"?"gpt-anything":n; const emb=n==="emb";
  const r=await fetch(url+(emb?"/v1/embeddings":from==="litellm"?"/v1/chat/completions":"/v1/messages"),{method:"POST",headers:H,body:JSON.stringify(emb?{model,input:"x"}:{model,max_tokens:9,messages:[{role:"user",content:"hi"}]})}); const t=await r.text(); console.log(" ",model,r.status,got.join(","),r.ok?"":t.slice(0,200)); }
 console.log("  nokey",(await fetch(url+"/v1/models")).status);
 p.kill("SIGTERM"); await p.status; await Promise.all(ps); console.log("  secret in log:",/SECRET[a-z]|sk-master/.test(out));
}
Deno.exit(0);
